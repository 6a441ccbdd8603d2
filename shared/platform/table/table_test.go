package table_test

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
	"github.com/robotmoney/mcp/shared/platform/table"
)

// noError stops the test when err is not nil.
func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

// equal reports a difference.
func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// conflicts and unavailable report an error of another kind: whoever mixes the
// two up gives up where it should decide anew, or the other way round.
func conflicts(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, record.ErrConflict) || fault.Is(err, fault.DependencyUnavailable) {
		t.Errorf("error = %v, want a conflict", err)
	}
}

func unavailable(t *testing.T, err error) {
	t.Helper()
	if !fault.Is(err, fault.DependencyUnavailable) || errors.Is(err, record.ErrConflict) {
		t.Errorf("error = %v, want %s", err, fault.DependencyUnavailable)
	}
}

// at is a key in a partition of the test's own.
func at(t *testing.T, sk string) key.Key { return key.Key{PK: partition(t), SK: sk} }

// put is an item with a text for a body.
func put(k key.Key, body string, was int64) record.Put {
	return record.Put{Item: record.Item{Key: k, Body: []byte(body)}, Was: was}
}

func commit(t *testing.T, puts ...record.Put) {
	t.Helper()
	noError(t, open().Commit(t.Context(), record.Change{Puts: puts}))
}

// holds says what lies under a key: its body and version, or nothing.
func holds(t *testing.T, k key.Key, want string) {
	t.Helper()
	item, found, err := open().Get(t.Context(), k)
	noError(t, err)
	got := ""
	if found {
		got = fmt.Sprintf("%s v%d", item.Body, item.Version)
	}
	equal(t, k.SK, got, want)
}

func TestItems(t *testing.T) {
	for name, item := range map[string]record.Item{
		"bare":        {},
		"body":        {Body: []byte(`{"a":"é\u0000","b":[1.50, 1e2]}`)},
		"expires":     {Body: []byte("{}"), Expires: time.Date(2030, time.May, 1, 2, 3, 4, 0, time.UTC)},
		"one index":   {Index: [3]key.Key{{}, {PK: "p", SK: "s"}, {}}},
		"all indexes": {Index: [3]key.Key{{PK: "p1", SK: "s1"}, {PK: "p2", SK: "s2"}, {PK: "p3", SK: "s3"}}},
		"large":       {Body: []byte(strings.Repeat("x", 300<<10))},
	} {
		t.Run(name, func(t *testing.T) {
			item.Key = at(t, "sk")
			noError(t, open().Commit(t.Context(), record.Change{Puts: []record.Put{{Item: item}}}))
			got, found, err := open().Get(t.Context(), item.Key)
			noError(t, err)
			equal(t, "found", found, true)
			equal(t, "key", got.Key, item.Key)
			equal(t, "body", string(got.Body), string(item.Body))
			equal(t, "expires", got.Expires, item.Expires)
			equal(t, "indexes", got.Index, item.Index)
			equal(t, "version", got.Version, 1)
			equal(t, "counters", len(got.Numbers), 0)
		})
	}
	_, found, err := open().Get(t.Context(), at(t, "none"))
	noError(t, err)
	equal(t, "found", found, false)
}

func TestVersions(t *testing.T) {
	tb, k := open(), at(t, "sk")
	commit := func(p record.Put) error { return tb.Commit(t.Context(), record.Change{Puts: []record.Put{p}}) }
	noError(t, commit(put(k, "a", 0)))
	conflicts(t, commit(put(k, "b", 0)))
	conflicts(t, commit(put(k, "b", 2)))
	holds(t, k, "a v1")
	noError(t, commit(put(k, "b", 1)))
	conflicts(t, commit(put(k, "c", 1)))
	holds(t, k, "b v2")
	noError(t, commit(put(k, "c", 2)))
	holds(t, k, "c v3")
	conflicts(t, commit(put(at(t, "other"), "x", 1))) // there is nothing yet
	holds(t, at(t, "other"), "")
}

func TestBlindPutsAndDeletes(t *testing.T) {
	tb, k := open(), at(t, "sk")
	blind := func(body string) record.Put {
		return record.Put{Item: record.Item{Key: k, Body: []byte(body)}, Blind: true}
	}
	for _, more := range [][]record.Put{nil, {put(at(t, "beside"), "x", 0)}} { // alone, and in a transaction
		for _, body := range []string{"a", "b"} {
			noError(t, tb.Commit(t.Context(), record.Change{Puts: append([]record.Put{blind(body)}, more...)}))
			holds(t, k, body+" v1")
			more = nil
		}
	}
	noError(t, tb.Commit(t.Context(), record.Change{Deletes: []key.Key{k}}))
	holds(t, k, "")
	noError(t, tb.Commit(t.Context(), record.Change{Deletes: []key.Key{k, at(t, "beside"), at(t, "none")}}))
	holds(t, at(t, "beside"), "")
}

// A change is made whole or not at all.
func TestAllOrNothing(t *testing.T) {
	tb := open()
	commit(t, put(at(t, "there"), "old", 0), put(at(t, "doomed"), "old", 0))
	change := record.Change{
		Puts:    []record.Put{put(at(t, "new"), "x", 0), put(at(t, "there"), "changed", 7)},
		Adds:    []record.Add{{Key: at(t, "counter"), Deltas: map[string]*big.Int{"n": big.NewInt(1)}}},
		Deletes: []key.Key{at(t, "doomed")},
	}
	conflicts(t, tb.Commit(t.Context(), change))
	holds(t, at(t, "new"), "")
	holds(t, at(t, "there"), "old v1")
	holds(t, at(t, "counter"), "")
	holds(t, at(t, "doomed"), "old v1")
	change.Puts[1].Was = 1
	noError(t, tb.Commit(t.Context(), change))
	holds(t, at(t, "new"), "x v1")
	holds(t, at(t, "there"), "changed v2")
	holds(t, at(t, "doomed"), "")
	conflicts(t, tb.Commit(t.Context(), change))
	holds(t, at(t, "there"), "changed v2")
}

func TestSizeOfAChange(t *testing.T) {
	tb := open()
	noError(t, tb.Commit(t.Context(), record.Change{}))
	var change record.Change
	for i := range record.MaxOperations {
		change.Puts = append(change.Puts, put(at(t, fmt.Sprintf("%03d", i)), "x", 0))
	}
	noError(t, tb.Commit(t.Context(), change))
	holds(t, at(t, "099"), "x v1")
	change.Deletes = []key.Key{at(t, "000")}
	if err := tb.Commit(t.Context(), change); err == nil || fault.Is(err, fault.DependencyUnavailable) || errors.Is(err, record.ErrConflict) {
		t.Errorf("101 operations: error = %v, want a mistake of the caller", err)
	}
}

func TestGetMany(t *testing.T) {
	tb := open()
	var keys []key.Key
	for from := 0; from < 250; from += 50 {
		var puts []record.Put
		for i := from; i < from+50; i++ {
			keys = append(keys, at(t, fmt.Sprintf("%03d", i)))
			puts = append(puts, put(keys[i], fmt.Sprint(i), 0))
		}
		commit(t, puts...)
	}
	for name, c := range map[string]struct {
		keys []key.Key
		want int
	}{
		"none":            {nil, 0},
		"one":             {keys[:1], 1},
		"a hundred":       {keys[:100], 100},
		"one more":        {keys[:101], 101},
		"all":             {keys, 250},
		"one twice":       {[]key.Key{keys[0], keys[1], keys[0]}, 2},
		"all twice":       {append(slices.Clone(keys), keys...), 250},
		"one is missing":  {[]key.Key{keys[0], {PK: "nowhere", SK: "x"}}, 1},
		"all are missing": {[]key.Key{{PK: "nowhere", SK: "x"}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tb.GetMany(t.Context(), c.keys)
			noError(t, err)
			equal(t, "items", len(got), c.want)
			for k, item := range got {
				equal(t, "body", fmt.Sprintf("%03s", item.Body), k.SK)
			}
		})
	}
}

func TestCounters(t *testing.T) {
	tb, k := open(), at(t, "sk")
	add := func(deltas map[string]string) {
		t.Helper()
		numbers := map[string]*big.Int{}
		for name, text := range deltas {
			n, ok := new(big.Int).SetString(text, 10)
			equal(t, text, ok, true)
			numbers[name] = n
		}
		noError(t, tb.Commit(t.Context(), record.Change{Adds: []record.Add{{Key: k, Deltas: numbers}}}))
	}
	reads := func(name, want string) {
		t.Helper()
		item, _, err := tb.Get(t.Context(), k)
		noError(t, err)
		equal(t, name, item.Numbers[name].String(), want)
	}
	digits := strings.Repeat("1234567890", 4)[:38]
	for _, step := range []struct{ total, delta, count string }{
		{"5", "5", "1"},
		{"-2", "-7", "2"},
		{digits, func() string { n, _ := new(big.Int).SetString(digits, 10); return n.Add(n, big.NewInt(2)).String() }(), "3"},
		{"0", "-" + digits, "4"},
		{"-" + digits, "-" + digits, "5"},
		{"-" + digits, "0", "6"},
	} {
		add(map[string]string{"total": step.delta, "count": "1"})
		reads("total", step.total)
		reads("count", step.count)
	}
	add(map[string]string{"other-name": "1"})
	reads("other-name", "1")
	reads("count", "6")
}

// What somebody else put there and is no whole number is told, not read as 0.
func TestForeignNumber(t *testing.T) {
	k := at(t, "sk")
	_, err := client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(name), Item: map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: k.PK}, "sk": &types.AttributeValueMemberS{Value: k.SK}, "n_total": &types.AttributeValueMemberN{Value: "1.5"},
	}})
	noError(t, err)
	if item, found, err := open().Get(t.Context(), k); err == nil || found {
		t.Errorf("item = %v, found %v", item, found)
	}
}

// TestTimeToLive: the table deletes by an attribute that the template names, in
// seconds since 1970.
func TestTimeToLive(t *testing.T) {
	client := client()
	ttl, err := client.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(name)})
	noError(t, err)
	attribute := aws.ToString(ttl.TimeToLiveDescription.AttributeName)

	k, expires := at(t, "sk"), time.Date(2030, time.May, 1, 2, 3, 4, 900_000_000, time.UTC)
	noError(t, open().Commit(t.Context(), record.Change{Puts: []record.Put{{Item: record.Item{Key: k, Expires: expires}, Blind: true}}}))
	got, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(name), Key: map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: k.PK}, "sk": &types.AttributeValueMemberS{Value: k.SK},
	}})
	noError(t, err)
	n, ok := got.Item[attribute].(*types.AttributeValueMemberN)
	if !ok {
		t.Fatalf("the item has no number %s", attribute)
	}
	equal(t, "seconds", n.Value, fmt.Sprint(expires.Unix())) // never later than was asked
	commit(t, put(at(t, "forever"), "x", 0))
	item, _, err := open().Get(t.Context(), at(t, "forever"))
	noError(t, err)
	equal(t, "expires", item.Expires.IsZero(), true)
}

// The keys in the code are those of the template: an item's own names of its
// places are what the indexes are made of.
func TestIndexesAreTheTemplates(t *testing.T) {
	out, err := client().DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(name)})
	noError(t, err)
	equal(t, "indexes", len(out.Table.GlobalSecondaryIndexes), len(record.Item{}.Index))
	for i := range out.Table.GlobalSecondaryIndexes {
		item := record.Item{Key: at(t, fmt.Sprint(i))}
		item.Index[i] = key.Key{PK: partition(t), SK: "place"}
		noError(t, open().Commit(t.Context(), record.Change{Puts: []record.Put{{Item: item}}}))
		page, err := open().Query(t.Context(), record.Query{Index: i + 1, PK: partition(t)})
		noError(t, err)
		equal(t, fmt.Sprintf("items of index %d", i+1), len(page.Items), 1)
	}
}

var _ record.Store = (*table.Table)(nil)
