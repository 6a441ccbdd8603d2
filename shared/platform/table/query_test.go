package table_test

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// sorts are the sort keys of a page.
func sorts(page record.Page) string {
	var all []string
	for _, item := range page.Items {
		all = append(all, item.Key.SK)
	}
	return strings.Join(all, " ")
}

func TestQuery(t *testing.T) {
	pk := partition(t)
	for _, sk := range []string{"a", "b#1", "b#2", "b#3", "b", "c", "é", "Z"} {
		commit(t, put(key.Key{PK: pk, SK: sk}, "x", 0))
	}
	commit(t, put(key.Key{PK: pk + "2", SK: "a"}, "another partition", 0))
	for name, c := range map[string]struct {
		query record.Query
		want  string
	}{
		"all, by byte":         {record.Query{}, "Z a b b#1 b#2 b#3 c é"},
		"reverse":              {record.Query{Reverse: true}, "é c b#3 b#2 b#1 b a Z"},
		"prefix":               {record.Query{Prefix: "b#"}, "b#1 b#2 b#3"},
		"prefix is a key":      {record.Query{Prefix: "b"}, "b b#1 b#2 b#3"},
		"prefix, reverse":      {record.Query{Prefix: "b#", Reverse: true}, "b#3 b#2 b#1"},
		"prefix of none":       {record.Query{Prefix: "x"}, ""},
		"prefix before bounds": {record.Query{Prefix: "b#", From: "c", To: "a"}, "b#1 b#2 b#3"},
		"from":                 {record.Query{From: "b#2"}, "b#2 b#3 c é"},
		"from between keys":    {record.Query{From: "b#25"}, "b#3 c é"},
		"to":                   {record.Query{To: "b#2"}, "Z a b b#1 b#2"},
		"from and to":          {record.Query{From: "b", To: "b#2"}, "b b#1 b#2"},
		"one key":              {record.Query{From: "b", To: "b"}, "b"},
		"reverse range":        {record.Query{From: "b", To: "b#2", Reverse: true}, "b#2 b#1 b"},
		"empty range":          {record.Query{From: "d", To: "e"}, ""},
		"range the other way":  {record.Query{From: "c", To: "a"}, ""},
		"limit":                {record.Query{Limit: 3}, "Z a b"},
		"limit, reverse":       {record.Query{Limit: 2, Reverse: true}, "é c"},
		"limit and prefix":     {record.Query{Limit: 2, Prefix: "b#"}, "b#1 b#2"},
	} {
		t.Run(name, func(t *testing.T) {
			c.query.PK = pk
			page, err := open().Query(t.Context(), c.query)
			noError(t, err)
			equal(t, "keys", sorts(page), c.want)
		})
	}
	page, err := open().Query(t.Context(), record.Query{PK: "nowhere"})
	noError(t, err)
	equal(t, "keys of a partition that is not there", sorts(page), "")
	equal(t, "no next page", page.Next, nil)
}

// TestIndexQueries: each index has its own order, an item without a place in it
// is not there, and what is moved or deleted leaves its place.
func TestIndexQueries(t *testing.T) {
	place := func(i int, sk string) key.Key { return key.Key{PK: fmt.Sprint(partition(t), "#", i), SK: sk} }
	item := func(sk string, places [3]key.Key, was int64) record.Put {
		return record.Put{Item: record.Item{Key: at(t, sk), Index: places, Body: []byte(sk)}, Was: was}
	}
	commit(t,
		item("a", [3]key.Key{place(1, "3"), place(2, "1"), {}}, 0),
		item("b", [3]key.Key{place(1, "2"), {}, place(3, "1")}, 0),
		item("c", [3]key.Key{place(1, "1"), place(2, "2"), place(3, "2")}, 0),
		item("d", [3]key.Key{}, 0))
	in := func(i int, want string) {
		t.Helper()
		page, err := open().Query(t.Context(), record.Query{Index: i, PK: place(i, "").PK})
		noError(t, err)
		equal(t, fmt.Sprintf("index %d", i), sorts(page), want)
		for _, item := range page.Items {
			equal(t, "body", string(item.Body), item.Key.SK)
		}
	}
	in(1, "c b a")
	in(2, "a c")
	in(3, "b c")
	commit(t, item("a", [3]key.Key{place(1, "0"), {}, place(3, "0")}, 1))
	noError(t, open().Commit(t.Context(), record.Change{Deletes: []key.Key{at(t, "c")}}))
	in(1, "a b")
	in(2, "")
	in(3, "a b")

	page, err := open().Query(t.Context(), record.Query{Index: 1, PK: place(1, "").PK, From: "1", To: "9"})
	noError(t, err)
	equal(t, "range of an index", sorts(page), "b")
	page, err = open().Query(t.Context(), record.Query{Index: 1, PK: place(1, "").PK, Prefix: "0"})
	noError(t, err)
	equal(t, "prefix in an index", sorts(page), "a")
}

// TestPaging: walking the pages visits each item once, whatever their size, the
// direction and the index, also where many items of an index have one place.
func TestPaging(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	const items = 60
	var puts []record.Put
	for i := range items {
		puts = append(puts, record.Put{Item: record.Item{
			Key:   at(t, fmt.Sprintf("%03d", i)),
			Index: [3]key.Key{{PK: partition(t), SK: fmt.Sprint(random.Intn(5))}, {PK: partition(t), SK: "one place"}},
		}})
	}
	commit(t, puts...)
	for index := range 3 {
		for _, limit := range []int{1, 7, 20, 59, 60, 61, 0} {
			for _, reverse := range []bool{false, true} {
				name := fmt.Sprintf("index %d by %d, reverse %v", index, limit, reverse)
				q := record.Query{Index: index, PK: partition(t), Limit: limit, Reverse: reverse}
				var visited, places []string
				for pages := 0; ; pages++ {
					page, err := open().Query(t.Context(), q)
					noError(t, err)
					for _, item := range page.Items {
						visited = append(visited, item.Key.SK)
						if index > 0 {
							places = append(places, item.Index[index-1].SK)
						}
					}
					if page.Next == nil {
						break
					}
					if pages > items {
						t.Fatalf("%s: the walk does not end", name)
					}
					q.After = page.Next
				}
				ordered := visited
				if index > 0 {
					ordered = places
				}
				if reverse {
					slices.Reverse(ordered)
				}
				equal(t, name+": in order", slices.IsSorted(ordered), true)
				slices.Sort(visited)
				equal(t, name+": each once", len(slices.Compact(visited)), items)
			}
		}
	}
}

// A page of the table holds 1 MB; the rest is on the next.
func TestLargePages(t *testing.T) {
	for i := range 8 {
		commit(t, put(at(t, fmt.Sprint(i)), strings.Repeat("x", 300<<10), 0))
	}
	var visited []string
	pages := 0
	for q := (record.Query{PK: partition(t)}); ; pages++ {
		page, err := open().Query(t.Context(), q)
		noError(t, err)
		visited = append(visited, sorts(page))
		if page.Next == nil {
			break
		}
		q.After = page.Next
	}
	equal(t, "visited", strings.Join(strings.Fields(strings.Join(visited, " ")), " "), "0 1 2 3 4 5 6 7")
	if pages == 0 {
		t.Error("2.4 MB came in one page: the test tries nothing")
	}
}
