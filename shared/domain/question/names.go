package question

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/fence"
	"github.com/robotmoney/mcp/shared/domain/ledger"
)

const (
	// maxUnknown is how many words that are in no table a question may have. A
	// longer rest is a text and no name, and is not looked up.
	maxUnknown = 8
	// maxRuns is how many names are looked up.
	maxRuns = 3
)

// candidate is an account or a counterparty that words may mean.
type candidate struct {
	id, name string
	account  bool
	first, n int // the words it takes
	whole    bool
}

// resolve finds what the words mean that are in no table. What nothing is called
// by is not understood, and what several are called by is asked back.
func (r Rules) resolve(ctx context.Context, asked Asked, q *reading, accounts []ledger.Account) error {
	unknown, runs := 0, 0
	for _, s := range q.slots {
		if s == none {
			unknown++
		}
	}
	if unknown > maxUnknown {
		return unanswered("The question has too many words that are not understood. Ask for the cash position, the last transactions, the bills that are due, an invoice by its number or the top expense category, in few words.")
	}
	for at := 0; at < len(q.slots); at++ {
		if q.slots[at] != none {
			continue
		}
		end := at
		for end < len(q.slots) && q.slots[end] == none {
			end++
		}
		if runs++; runs > maxRuns {
			return unanswered("The question names more than is looked up at once. Ask about one thing.")
		}
		found, err := r.candidates(ctx, asked, q, accounts, at, end)
		if err != nil {
			return err
		}
		if err := q.take(found, at, end); err != nil {
			return err
		}
	}
	q.collect()
	return nil
}

// candidates are what the words from at to end may name.
func (r Rules) candidates(ctx context.Context, asked Asked, q *reading, accounts []ledger.Account, at, end int) ([]candidate, error) {
	var found []candidate
	for _, a := range accounts {
		names := []string{a.Name, value(a.Institution)}
		if digits := strings.TrimLeft(value(a.ExternalAccountID), "*"); len(digits) >= 4 {
			names = append(names, digits)
		}
		if c, ok := q.called(names, at, end); ok {
			c.id, c.name, c.account = a.ID, a.Name, true
			found = append(found, c)
		}
	}
	// The longest word is the rarest; it must not be folded to nothing.
	longest := slices.MaxFunc(q.text[at:end], func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	if longest == "" {
		return found, nil
	}
	parties, err := r.Names.Counterparties(ctx, asked, longest)
	if err != nil {
		return nil, err
	}
	for _, p := range parties {
		if c, ok := q.called(append([]string{p.Name}, p.Aliases...), at, end); ok {
			c.id, c.name = p.ID, p.Name
			found = append(found, c)
		}
	}
	return found, nil
}

// called says whether the words from at to end are a name or a part of one, and
// which words around them belong to it.
func (q *reading) called(names []string, at, end int) (best candidate, ok bool) {
	for _, name := range names {
		words := texts(split(name))
		// The whole name, which may reach over words that mean something else.
		for first := max(0, end-len(words)); first <= at; first++ {
			if startsWith(q.text[first:], words) && first+len(words) >= end && len(words) > best.n {
				best, ok = candidate{first: first, n: len(words), whole: true}, true
			}
		}
		if !ok && holds(words, q.text[at:end]) {
			best, ok = candidate{first: at, n: end - at}, true
		}
	}
	return best, ok
}

// take settles what a run of words names.
func (q *reading) take(found []candidate, at, end int) error {
	run := strings.Join(rawOf(q.words[at:end]), " ")
	if len(found) == 0 {
		return unanswered("%s is not understood: it is no account and no counterparty of the ledger, and no word this tool answers to yet. Nothing was computed.", fence.Text(run))
	}
	found = q.prefer(found, end)
	if len(found) > 1 {
		return ambiguous(run, found)
	}
	c := found[0]
	q.mark(c.first, c.n, named)
	list := &q.parties
	if c.account {
		list = &q.accounts
	} else if c.first > 0 {
		q.beside = q.text[c.first-1]
	}
	if !slices.Contains(*list, c.id) {
		*list = append(*list, c.id)
	}
	return nil
}

// prefer leaves the best candidates: whole names before parts, the longest
// first, and accounts where the words say so.
func (q *reading) prefer(found []candidate, end int) []candidate {
	keep := func(is func(candidate) bool) {
		if slices.ContainsFunc(found, is) {
			found = slices.DeleteFunc(found, func(c candidate) bool { return !is(c) })
		}
	}
	if end < len(q.text) && (q.text[end] == "account" || q.text[end] == "accounts" || q.slots[end] == kind || q.text[end] == "balance") || q.onlyBalances() {
		keep(func(c candidate) bool { return c.account })
	}
	keep(func(c candidate) bool { return c.whole })
	most := slices.MaxFunc(found, func(a, b candidate) int { return cmp.Compare(a.n, b.n) }).n
	keep(func(c candidate) bool { return c.n == most })
	return found
}

// onlyBalances says whether the question is about accounts and nothing else, as
// far as the tables tell.
func (q *reading) onlyBalances() bool {
	for _, m := range q.found {
		for _, says := range m.says {
			if says.slot == topic && says.value != aboutCash && says.value != aboutBalance && says.value != aboutHoldings {
				return false
			}
			if says.slot == newest || says.slot == top {
				return false
			}
		}
	}
	return true
}

// ambiguous asks which one is meant.
func ambiguous(run string, found []candidate) error {
	const enough = 5
	slices.SortFunc(found, func(a, b candidate) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.id, b.id)) })
	var list []string
	for _, c := range found[:min(len(found), enough)] {
		list = append(list, fmt.Sprintf("%s (`%s`)", fence.Text(c.name), c.id))
	}
	more := ""
	if len(found) > enough {
		more = fmt.Sprintf(", or %d more", len(found)-enough)
	}
	return unanswered("%s may be %s%s. Ask again with the whole name or the id.", fence.Text(run), strings.Join(list, " or "), more)
}

func rawOf(words []word) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = w.raw
	}
	return list
}

func value(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
