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
	"github.com/robotmoney/mcp/shared/domain/record"
)

const (
	// maxSuffix bounds a suffix in bytes, and so the part of a search text an
	// index serves; the rest of a longer text is compared row by row.
	maxSuffix = 48
	// maxSuffixes bounds the suffixes of one counterparty over all its names:
	// old and new ones and the row itself fit one transaction.
	maxSuffixes = 45
	// searchChunk is how many suffixes a search reads at a time: as many rows as
	// one batch reads.
	searchChunk = 100
)

// suffixes are the parts of a counterparty's folded names that a search may
// begin with, sorted: from each letter on, without those another one begins
// with. Where there are too many, the beginnings of the names come first, then
// those of words. Stored suffixes are compared with these: rows that were
// written by another rule are not found until they are written again.
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

// Counterparties lists counterparties: those whose name or an alias holds the
// text q, whatever its case and accents, in the order of the matching parts; all
// of them by name when nothing is left of q.
func (r *Reader) Counterparties(ctx context.Context, t identity.Tenant, q, counterpartyType string, w Window) (Page, error) {
	folded := Fold(q)
	if folded == "" {
		query := record.Query{Index: 1, PK: key.LedgerList(t, id.Counterparty, "", "").PK}
		return r.walk(ctx, t, r.list(id.Counterparty, query, map[string]string{"type": counterpartyType}), w)
	}
	// Without a type nearly every suffix leads to a row that is kept, so reading a
	// whole chunk for a short page would read rows nobody asked for.
	return r.walk(ctx, t, listing{
		query: record.Query{PK: key.Suffix(t, "", "").PK, Prefix: cut(folded, maxSuffix)}, chunk: searchChunk, sparse: counterpartyType != "",
		rows: func(ctx context.Context, marks []record.Item) ([]json.RawMessage, error) {
			return r.named(ctx, t, marks, folded, counterpartyType)
		},
	}, w)
}

// named reads the counterparties that suffixes lead to, with one batch, and
// keeps those that answer a search.
func (r *Reader) named(ctx context.Context, t identity.Tenant, marks []record.Item, folded, counterpartyType string) ([]json.RawMessage, error) {
	parts, keys := make([]string, len(marks)), make([]key.Key, len(marks))
	for i, mark := range marks {
		suffix, name := split(mark.Key.SK)
		parts[i], keys[i] = suffix, key.Ledger(t, id.Counterparty, name)
	}
	stored, err := r.Store.GetMany(ctx, keys)
	if err != nil {
		return nil, err
	}
	rows := make([]json.RawMessage, len(marks))
	for i, k := range keys {
		item, there := stored[k]
		if !there {
			continue
		}
		var c Counterparty
		if err := json.Unmarshal(item.Body, &c); err != nil {
			return nil, fmt.Errorf("decode counterparty: %w", err)
		}
		if (counterpartyType == "" || c.Type == counterpartyType) && c.answers(parts[i], folded) {
			rows[i] = item.Body
		}
	}
	return rows, nil
}

// answers says whether this suffix is the first of the counterparty's that
// begins with the text. A counterparty with several of them is taken at that one
// alone, so that it is visited once however the pages fall.
func (c *Counterparty) answers(suffix, folded string) bool {
	prefix := cut(folded, maxSuffix)
	of := suffixes(c.Name, c.Aliases)
	at := slices.IndexFunc(of, func(s string) bool { return strings.HasPrefix(s, prefix) })
	if at < 0 || of[at] != suffix {
		return false
	}
	holds := func(name string) bool { return strings.Contains(Fold(name), folded) }
	return len(folded) <= maxSuffix || holds(c.Name) || slices.ContainsFunc(c.Aliases, holds)
}
