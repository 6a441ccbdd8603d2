package question

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

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

// Category is what transactions are sorted under, and whether money comes in or
// goes out under it.
type Category struct {
	Name    string // folded, as rollups have it
	In, Out bool
}

// words are the words of its name.
func (c Category) words() []string {
	return strings.FieldsFunc(c.Name, func(r rune) bool { return r == '_' || r == ' ' || r == '-' || r == '/' || r == '&' })
}

// candidate is an account, a counterparty or a category that words may mean.
type candidate struct {
	id, name string
	account  bool
	category *Category
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
		return unanswered("The question has too many words that are not understood. %s", offers)
	}
	// Categories are only read where a word may mean one.
	categories := sync.OnceValues(func() ([]Category, error) { return r.Names.Categories(ctx, asked) })
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
		found, err := r.candidates(ctx, asked, q, accounts, categories, at, end)
		if err != nil {
			return err
		}
		if err := q.take(found, at, end); err != nil {
			return err
		}
	}
	q.collect()
	return q.settle(categories)
}

// reader gives the tenant's categories.
type reader func() ([]Category, error)

// settle finds the categories that words for categories mean. A tenant that has
// none of that kind is not answered with another: but what is owed as payroll,
// tax or rent is so without one.
func (q *reading) settle(read reader) error {
	if len(q.subjects) == 0 {
		return nil
	}
	categories, err := read()
	if err != nil {
		return err
	}
	for _, word := range q.subjects {
		at := slices.IndexFunc(categories, func(c Category) bool { return alike(c.words(), strings.Fields(word)) })
		if at < 0 {
			at = slices.IndexFunc(categories, func(c Category) bool { return categoryWords()[strings.Join(c.words(), " ")] == word })
		}
		switch {
		case at >= 0:
			if !slices.Contains(q.categories, categories[at]) {
				q.categories = append(q.categories, categories[at])
			}
		case typesOfCategories[word] == "":
			return unanswered("There is no category for %s in the ledger.", fence.Text(word))
		}
		q.has[named] = true
	}
	return nil
}

// alike says whether two names have the same words, but for an s at their end.
func alike(a, b []string) bool {
	return slices.EqualFunc(a, b, func(x, y string) bool { return strings.TrimSuffix(x, "s") == strings.TrimSuffix(y, "s") })
}

// candidates are what the words from at to end may name. Where nothing is called
// so, what is one letter away is tried.
func (r Rules) candidates(ctx context.Context, asked Asked, q *reading, accounts []ledger.Account, read reader, at, end int) ([]candidate, error) {
	found := q.knownAccounts(accounts, at, end, holds)
	// The longest word is the rarest; it must not be folded to nothing.
	longest := slices.MaxFunc(q.text[at:end], func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	if longest == "" {
		return found, nil
	}
	parties, err := r.Names.Counterparties(ctx, asked, longest)
	if err != nil {
		return nil, err
	}
	found = append(found, q.knownParties(parties, at, end, holds)...)
	if slices.ContainsFunc(found, func(c candidate) bool { return c.whole }) {
		return found, nil // a name in full needs no category beside it
	}
	categories, err := read()
	if err != nil {
		return nil, err
	}
	found = append(found, q.knownCategories(categories, at, end, holds)...)
	if len(found) > 0 || len(longest) < leastTypo {
		return found, nil
	}
	for _, part := range halvesOf(longest) {
		if parties, err = r.Names.Counterparties(ctx, asked, part); err != nil {
			return nil, err
		}
		for _, c := range q.knownParties(parties, at, end, holdsNearly) {
			if !slices.ContainsFunc(found, func(have candidate) bool { return have.id == c.id }) {
				found = append(found, c)
			}
		}
	}
	return slices.Concat(found, q.knownAccounts(accounts, at, end, holdsNearly), q.knownCategories(categories, at, end, holdsNearly)), nil
}

// holder says whether words stand in a name.
type holder func(name, part []string) bool

// knownAccounts are the accounts that are called so.
func (q *reading) knownAccounts(accounts []ledger.Account, at, end int, holds holder) []candidate {
	var found []candidate
	for _, a := range accounts {
		names := []string{a.Name, value(a.Institution)}
		if digits := strings.TrimLeft(value(a.ExternalAccountID), "*"); len(digits) >= 4 {
			names = append(names, digits)
		}
		c, ok := q.called(names, at, end, holds)
		if both := texts(split(value(a.Institution) + " " + a.Name)); !ok && subset(q.text[at:end], both) {
			c, ok = candidate{first: at, n: end - at}, true // "Pacific Commerce operating"
		}
		if ok {
			c.id, c.name, c.account = a.ID, a.Name, true
			found = append(found, c)
		}
	}
	return found
}

func (q *reading) knownCategories(categories []Category, at, end int, holds holder) []candidate {
	var found []candidate
	for _, category := range categories {
		// A category is meant by its whole name: "services" alone is none.
		if c, ok := q.called([]string{strings.Join(category.words(), " ")}, at, end, holds); ok && (c.whole || c.n == len(category.words())) {
			c.id, c.name, c.category, c.whole = category.Name, category.Name, &category, true
			found = append(found, c)
		}
	}
	return found
}

// subset says whether all words are among others.
func subset(words, of []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(of, w) })
}

func (q *reading) knownParties(parties []ledger.Counterparty, at, end int, holds holder) []candidate {
	var found []candidate
	for _, p := range parties {
		if c, ok := q.called(append([]string{p.Name}, p.Aliases...), at, end, holds); ok {
			c.id, c.name = p.ID, p.Name
			found = append(found, c)
		}
	}
	return found
}

// called says whether the words from at to end are a name or a part of one, and
// which words around them belong to it.
func (q *reading) called(names []string, at, end int, holds holder) (best candidate, ok bool) {
	for _, name := range names {
		words := texts(split(name))
		// The whole name, which may reach over words that mean something else.
		for first := max(0, end-len(words)); first <= at; first++ {
			last := first + len(words)
			if last <= len(q.text) && len(words) > 0 && last >= end && holds(words, q.text[first:last]) && len(words) > best.n {
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
		return unanswered("%s is not understood: it is no account, no counterparty and no category of the ledger, and no word this tool answers to. Nothing was computed.", fence.Text(run))
	}
	found = q.prefer(found, end)
	if len(found) > 1 {
		return ambiguous(run, found)
	}
	c := found[0]
	q.mark(c.first, c.n, named)
	if c.category != nil {
		q.categories = append(q.categories, *c.category)
		return nil
	}
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
			switch {
			case says.slot == topic && says.value != aboutCash && says.value != aboutBalance && says.value != aboutHoldings:
				return false
			case says.slot == newest, says.slot == top, says.slot == compare, says.slot == average, says.slot == flow:
				return false
			}
		}
	}
	return len(q.spans) == 0
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
