package ledger_test

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/listing"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// named are counterparties cp_00, cp_01 and so on, each with a name and aliases.
func named(names ...[]string) []ledger.Row {
	var rows []ledger.Row
	for i, n := range names {
		row := counterparty()
		row.ID, row.Name, row.Aliases = fmt.Sprintf("cp_%02d", i), n[0], n[1:]
		rows = append(rows, row)
	}
	return rows
}

func (b *book) searching(t *testing.T, q, kind string) lists {
	return func(w listing.Window) (listing.Page, error) {
		return b.reader.Counterparties(t.Context(), b.tenant, q, kind, w)
	}
}

// finds wants a search to visit these counterparties, each once, whatever the
// size of its pages.
func (b *book) finds(t *testing.T, q, kind, want string) {
	t.Helper()
	for _, limit := range []int{1, 2, 500} {
		got, _ := b.follow(t, b.searching(t, q, kind), limit, plenty)
		slices.Sort(got)
		equal(t, fmt.Sprintf("%.60q by %d", q, limit), strings.Join(got, " "), want)
	}
}

// marks are the suffixes of a counterparty as they lie in the table.
func (b *book) marks(t *testing.T, name string) []string {
	t.Helper()
	var found []string
	for _, item := range b.partition(t, key.Suffix(b.tenant, "", "").PK) {
		if suffix, mine := strings.CutSuffix(item.Key.SK, "#"+name); mine {
			found = append(found, suffix)
		}
	}
	return found
}

func TestSearch(t *testing.T) {
	b := newBook(t)
	long := strings.Repeat("abc ", 11) + "the part no index has: " // 48 bytes are in the index
	rows := named(
		[]string{"Amazon Web Services", "AWS", "Amazon AWS EMEA SARL"}, []string{"Café Société", "Le Café"}, []string{"Müller & Söhne GmbH"},
		[]string{"a#b#c", "#1 Shop", "100% Pure"}, []string{"cp_00"}, []string{"Banana"}, []string{"日本電気", "NEC"}, []string{"O'Brien, Inc. (UK)"},
		[]string{long + "one"}, []string{long + "two"}, []string{"\u202eevil \u0000 name"}, []string{"q\U0010ffff\U0010ffffr"}, []string{"q\ud7ff\ud7ffs"}, []string{"q\ue000t"})
	rows[1].(*ledger.Counterparty).Type = "merchant"
	b.write(t, ledger.Written{New: len(rows)}, rows...)
	for q, want := range map[string]string{
		"amazon": "cp_00", "AMAZON web": "cp_00", "aws": "cp_00", "ws": "cp_00", "zon": "cp_00", "web services": "cp_00", "emea s": "cp_00", "ＡＷＳ": "cp_00",
		"cafe": "cp_01", "CAFÉ": "cp_01", "fe soc": "cp_01", "Cafe\u0301": "cp_01", "le c": "cp_01", " café ": "cp_01",
		"muller": "cp_02", "MÜLLER": "cp_02", "sohne": "cp_02", "& s": "cp_02", "gmbh": "cp_02",
		"a#b": "cp_03", "#b#": "cp_03", "#": "cp_03", "#1": "cp_03", "%": "cp_03", "00%": "cp_03", "b#c#": "", "c#cp": "",
		"cp_0": "cp_04", "cp_00": "cp_04", "nana#cp_05": "", "an": "cp_05", "ana": "cp_05", "na": "cp_05 cp_10", "banana": "cp_05", "bananas": "",
		"日本": "cp_06", "本電": "cp_06", "気": "cp_06", "nec": "cp_06",
		"o'b": "cp_07", "inc. (": "cp_07", "(uk)": "cp_07", "'": "cp_07",
		"the part": "cp_08 cp_09", long: "cp_08 cp_09", long + "o": "cp_08", long + "two": "cp_09", long + "three": "", strings.Repeat("abc ", 30): "",
		"\u202eevil": "cp_10", "evil name": "cp_10", "l \x00 n": "cp_10",
		"q": "cp_11 cp_12 cp_13", "q\U0010ffff": "cp_11", "\U0010ffff": "cp_11", "\U0010ffff\U0010ffff": "cp_11", "\U0010ffffr": "cp_11",
		"q\ud7ff": "cp_12", "\ud7ff": "cp_12", "\ud7ff\ud7ff": "cp_12", "q\ue000": "cp_13", "\ue000": "cp_13",
		"b_d": "", "*": "", "'; drop table": "", "\uffff": "", "😀": "", strings.Repeat("日", 200): "", "\xff": "",
	} {
		b.finds(t, q, "", want)
	}
	b.finds(t, "e", "merchant", "cp_01")
	b.finds(t, "aws", "merchant", "")
	for _, blank := range []string{"", " ", "\u0301", "\t\n"} {
		got, _ := b.follow(t, b.searching(t, blank, ""), 3, plenty)
		equal(t, "all of them", len(got), len(rows))
	}
	got, _ := b.follow(t, b.searching(t, "", "merchant"), 3, plenty)
	equal(t, "all merchants", strings.Join(got, " "), "cp_01")
}

// Any part of any name finds whom a plain comparison finds, each once.
func TestSearchOfAnyPart(t *testing.T) {
	const seed = 11
	b, random := newBook(t), rand.New(rand.NewSource(seed))
	word := func(most int) string {
		var w strings.Builder
		for range 1 + random.Intn(most) {
			w.WriteString([]string{"a", "b", "A", "é", "#", " ", "ß", "日"}[random.Intn(8)])
		}
		return w.String()
	}
	rows := make([]*ledger.Counterparty, 60)
	var all []ledger.Row
	for i := range rows {
		row := counterparty()
		row.ID, row.Name, row.Aliases = fmt.Sprintf("cp_%02d", i), "x"+word(10), []string{word(8), word(8)}
		rows[i], all = row, append(all, row)
	}
	b.write(t, ledger.Written{New: len(all)}, all...)
	for range 80 {
		q := word(4)
		if ledger.Fold(q) == "" {
			continue
		}
		var want []string
		for _, row := range rows {
			if slices.ContainsFunc(append(row.Aliases, row.Name), func(n string) bool { return strings.Contains(ledger.Fold(n), ledger.Fold(q)) }) {
				want = append(want, row.ID)
			}
		}
		got, _ := b.follow(t, b.searching(t, q, ""), 1+random.Intn(20), []int{plenty, 3_000}[random.Intn(2)])
		slices.Sort(got)
		sameIDs(t, fmt.Sprintf("seed %d, %q", seed, q), got, want)
	}
}

// However long its names are, a counterparty has so many suffixes and no more;
// names and words are found by their beginnings first.
func TestSuffixesAreBounded(t *testing.T) {
	b := newBook(t)
	letters := func(n int, from rune) string {
		var name strings.Builder
		for i := range n {
			name.WriteRune(from + rune(i%400))
		}
		return name.String()
	}
	row := named([]string{"Zurich Insurance Company of the Kingdom, Limited Partnership and Sons", "Yellow Umbrella Holding International", "Wide River"})[0].(*ledger.Counterparty)
	b.write(t, ledger.Written{New: 1}, row)
	equal(t, "suffixes", len(b.marks(t, "cp_00")), 45)
	for _, q := range []string{"zur", "yellow umb", "wide", "kingdom", "partn", "sons", "internat", "river"} {
		b.finds(t, q, "", "cp_00")
	}
	for i, change := range []struct {
		name    string
		aliases []string
		most    int
	}{
		{letters(666, 'Ѐ'), nil, 45},
		{letters(660, '一'), []string{letters(600, '丁'), letters(600, '倀')}, 45},
		{strings.Repeat("x", 2000), []string{strings.Repeat("xy", 1000)}, 45},
		{"x", nil, 1},
		{"y" + strings.Repeat("z ", 900), slices.Repeat([]string{strings.Repeat("é", 1000)}, 14), 45},
		{"\u0301", nil, 0}, // a name that nothing is left of
	} {
		row.Name, row.Aliases = change.name, change.aliases
		b.store.most = 0
		b.write(t, ledger.Written{Changed: 1}, row)
		marks := b.marks(t, "cp_00")
		if len(marks) > change.most || b.store.most > record.MaxOperations {
			t.Errorf("change %d: %d suffixes, %d operations", i, len(marks), b.store.most)
		}
		if start := ledger.Fold(change.name); start != "" {
			b.finds(t, string([]rune(start)[:1]), "", "cp_00")
			b.finds(t, start, "", "cp_00")
		}
		for _, mark := range marks {
			if len(mark) > 48 || mark == "" || mark[0] == ' ' {
				t.Errorf("change %d: suffix %q", i, mark)
			}
		}
	}
}

// A search that nearly everything answers keeps to its share of the table too.
func TestSearchOfMany(t *testing.T) {
	b := newBook(t)
	var names [][]string
	for i := range 300 {
		names = append(names, []string{fmt.Sprintf("a1a2a3a4a%d", i)})
	}
	rows := named(names...)
	b.write(t, ledger.Written{New: 300}, rows...)
	for _, limit := range []int{50, 500} {
		got, calls := b.follow(t, b.searching(t, "a", ""), limit, plenty)
		slices.Sort(got)
		equal(t, "found once each", len(slices.Compact(got)), 300)
		equal(t, "visits", len(got), 300)
		if calls < 2 {
			t.Errorf("%d calls for 1,500 suffixes", calls)
		}
	}
	seen := b.watch()
	page, err := b.searching(t, "a4a2", "")(listing.Window{Limit: 50, Budget: plenty})
	noError(t, err)
	equal(t, "rows", len(page.Rows), 50)
	equal(t, "queries", seen.queries, 1)
	equal(t, "items", seen.items, 51)
	equal(t, "batches", seen.batches, 0)
	var c ledger.Counterparty
	noError(t, json.Unmarshal(page.Rows[0], &c))
	equal(t, "the first by its matching part", c.Name, "a1a2a3a4a2")
}
