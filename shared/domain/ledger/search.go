package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/listing"
	"github.com/robotmoney/mcp/shared/domain/record"
)

const (
	// maxSuffix bounds a suffix in bytes, and so the part of a search text an
	// index serves; the rest of a longer text is compared row by row.
	maxSuffix = 48
	// maxSuffixes bounds the suffixes of one counterparty over all its names:
	// old and new ones and the row itself fit one transaction.
	maxSuffixes = 45
	// searchChunk is how many marks a search reads at a time. It is less than a
	// list reads: the text has left out most rows, and more bytes than a page
	// shows would be read for nothing.
	searchChunk = 100
)

// suffixes are the parts of a counterparty's folded names that a search may
// begin with, sorted: from each letter on, without those another one begins
// with. Where there are too many, the beginnings of the names come first, then
// those of words. The writer knows the stored marks of a row by these: after a
// change of the rule, marks that only the old one made would stay, and show the
// row as it was.
func suffixes(name string, aliases []string) []string {
	names := []string{Fold(name)}
	for _, alias := range aliases {
		names = append(names, Fold(alias))
	}
	var kept []string
	seen := map[string]bool{}
	for _, place := range []func(name string, at int) bool{beginsName, beginsWord, anywhere} {
		for _, name := range names {
			for at := range name {
				if name[at] == ' ' || !place(name, at) {
					continue
				}
				suffix := cut(name[at:], maxSuffix)
				if len(kept) < maxSuffixes && !seen[suffix] {
					kept, seen[suffix] = keep(kept, suffix), true
				}
			}
		}
	}
	slices.Sort(kept)
	return kept
}

func beginsName(_ string, at int) bool { return at == 0 }

func beginsWord(name string, at int) bool { return at > 0 && name[at-1] == ' ' }

func anywhere(string, int) bool { return true }

// keep adds a suffix, unless a kept one begins with it and is found by whatever
// finds it; a kept one it begins with gives way to it.
func keep(kept []string, suffix string) []string {
	for i, k := range kept {
		switch {
		case strings.HasPrefix(k, suffix):
			return kept
		case strings.HasPrefix(suffix, k):
			kept[i] = suffix
			return kept
		}
	}
	return append(kept, suffix)
}

// cut keeps at most n bytes of text and whole runes.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// mark is what lies under a suffix: the whole row, so that a search is one read,
// and how many bytes the suffix shares with the one before it of the same
// counterparty, so that the search need not know the others. Both follow from
// the row: whatever changes in it, all its marks are written again with it.
type mark struct {
	Shared int             `json:"shared"`
	Row    json.RawMessage `json:"row"`
}

// marks are what a counterparty is found by, in the order of its suffixes.
func (c *Counterparty) marks(t identity.Tenant) ([]record.Item, error) {
	row, err := encode(c)
	if err != nil {
		return nil, err
	}
	var items []record.Item
	before := ""
	for _, suffix := range suffixes(c.Name, c.Aliases) {
		body, err := json.Marshal(mark{Shared: shared(before, suffix), Row: row})
		if err != nil {
			return nil, fmt.Errorf("encode mark of %s: %w", c.ID, err)
		}
		items = append(items, record.Item{Key: key.Suffix(t, suffix, c.ID), Body: body})
		before = suffix
	}
	return items, nil
}

// shared is how many bytes two texts begin with alike.
func shared(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// beyond is the lowest text above all those that begin with a prefix, empty where
// there is none. A search asks for the range up to it: DynamoDB serves a prefix
// alike, but the local engine reads the whole partition in front of one.
func beyond(prefix string) string {
	runes := []rune(prefix)
	for i, last := range slices.Backward(runes) {
		switch last {
		case utf8.MaxRune: // nothing is above it: the one before it counts
		case '\ud7ff':
			return string(runes[:i]) + "\ue000" // what lies between is no text
		default:
			return string(runes[:i]) + string(last+1)
		}
	}
	return ""
}

// Counterparties lists counterparties: those whose name or an alias holds the
// text q, whatever its case and accents, in the order of the matching parts; all
// of them by name when nothing is left of q.
func (r *Reader) Counterparties(ctx context.Context, t identity.Tenant, q, counterpartyType string, w listing.Window) (listing.Page, error) {
	s := search{text: Fold(q), kind: counterpartyType, found: map[string]bool{}}
	if s.text == "" {
		query := record.Query{Index: 1, PK: key.LedgerList(t, id.Counterparty, "", "").PK}
		return r.list(id.Counterparty, query, map[string]string{"type": counterpartyType}).Walk(ctx, r.Store, t, w)
	}
	s.prefix = cut(s.text, maxSuffix)
	// Without a type nearly every mark holds a row that is kept, so reading a
	// whole chunk for a short page would read rows nobody asked for.
	return listing.Listing{
		Query: record.Query{PK: key.Suffix(t, "", "").PK, From: s.prefix, To: beyond(s.prefix)}, Chunk: searchChunk, Sparse: s.kind != "", Rows: s.rows,
	}.Walk(ctx, r.Store, t, w)
}

// search is what one call looks for.
type search struct {
	text   string // folded
	prefix string // the part of the text that marks are found by
	kind   string // the counterparty's type, empty is any
	// found are the ids of the call's rows: one renamed while the call reads has
	// a mark of its old name and one of its new name.
	found map[string]bool
}

// rows gives the row of each mark that answers the search.
func (s *search) rows(_ context.Context, marks []record.Item) ([]json.RawMessage, error) {
	rows := make([]json.RawMessage, len(marks))
	for i, item := range marks {
		suffix, name := split(item.Key.SK)
		if !strings.HasPrefix(suffix, s.prefix) || s.found[name] {
			continue // the text goes on into the id, or the row is there
		}
		var m mark
		if err := json.Unmarshal(item.Body, &m); err != nil {
			return nil, fmt.Errorf("decode mark of %s: %w", name, err)
		}
		// A counterparty with several suffixes that begin with the text is taken at
		// the first of them alone, so that it is visited once however the pages fall.
		if len(s.prefix) <= m.Shared {
			continue
		}
		keeps, err := s.keeps(m.Row)
		if err != nil {
			return nil, fmt.Errorf("decode counterparty %s: %w", name, err)
		}
		if keeps {
			rows[i], s.found[name] = m.Row, true
		}
	}
	return rows, nil
}

// keeps compares with a row what its marks do not say: its type, and the end of
// a text that is longer than a mark.
func (s *search) keeps(row json.RawMessage) (bool, error) {
	if s.kind == "" && s.text == s.prefix {
		return true, nil
	}
	var c Counterparty
	if err := json.Unmarshal(row, &c); err != nil {
		return false, err
	}
	holds := func(name string) bool { return strings.Contains(Fold(name), s.text) }
	return (s.kind == "" || c.Type == s.kind) &&
		(s.text == s.prefix || holds(c.Name) || slices.ContainsFunc(c.Aliases, holds)), nil
}
