package question

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/fence"
	"github.com/robotmoney/mcp/shared/domain/lazy"
	"github.com/robotmoney/mcp/shared/domain/ledger"
)

// RulesModel is the name of the embedded planner in answers.
const RulesModel = "ledger-rules"

// Rules is the planner that is always there: it fills slots from the lexicon's
// tables, takes no tokens and gives the same plan for the same words. It reads a
// question whole or not at all: one word that is neither in the lexicon nor a
// name of the ledger makes it unanswered, because that word may be the one that
// turns the question's meaning around.
type Rules struct{ Names Names }

// Names are the names a question may use. Both calls are bounded reads.
type Names interface {
	// Accounts are the tenant's accounts.
	Accounts(ctx context.Context, asked Asked) ([]ledger.Account, error)
	// Counterparties are those with a name or alias that holds a folded text.
	Counterparties(ctx context.Context, asked Asked, text string) ([]ledger.Counterparty, error)
}

// Model is the planner's name in answers.
func (r Rules) Model() string { return RulesModel }

// reading is a question while it is read: a slot for each word, and what the
// slots say.
type reading struct {
	words []word
	text  []string
	slots []slot // by word
	found []match

	has       map[slot]bool
	topics    []string
	groupings []string
	flows     []string
	states    []string
	kinds     []string
	curs      []string
	laters    []string
	spans     []span
	counts    []int
	accounts  []string
	parties   []string
	invoices  []string
	beside    string // the word before a counterparty's name
	edge      string // the word before a period
}

// match is a wording of the lexicon and where it stands.
type match struct {
	at, n int
	says  []reads
}

// Plan reads a question.
func (r Rules) Plan(ctx context.Context, asked Asked) (Plan, Usage, error) {
	q := &reading{words: split(asked.Text), has: map[slot]bool{}}
	q.text, q.slots = texts(q.words), make([]slot, len(q.words))
	if act := q.act(); act != "" {
		return Plan{}, Usage{}, unanswered("This tool answers questions and moves no money: it does not %s anything. To have a payment made, propose it with `payment_intent.propose`; the policy and the people it names decide.", act)
	}
	accounts, err := r.Names.Accounts(ctx, asked)
	if err != nil {
		return Plan{}, Usage{}, err
	}
	q.ids()
	q.wholeNames(accounts)
	q.periods()
	q.lexicon()
	q.numbers()
	if err := r.resolve(ctx, asked, q, accounts); err != nil {
		return Plan{}, Usage{}, err
	}
	plan, err := q.plan(midnight(asked.AsOf))
	return plan, Usage{}, err
}

// act returns the verb of a sentence that asks to do something, empty when
// there is none.
func (q *reading) act() string {
	for at, w := range q.words {
		after := at > 0 && slices.Contains([]string{"and", "then", "also", "please"}, q.text[at-1])
		if !w.begins && !after {
			continue
		}
		rest := q.text[at:]
		for n := 1; n > 0; {
			n = longest(rest, before())
			rest = rest[n:]
		}
		if n := longest(rest, acts()); n > 0 && longest(rest, shows()) == 0 {
			return strings.Join(rest[:n], " ")
		}
	}
	return ""
}

// longest says how many words the longest wording takes that others begin with.
func longest(words []string, of [][]string) int {
	most := 0
	for _, wording := range of {
		if len(wording) > most && startsWith(words, wording) {
			most = len(wording)
		}
	}
	return most
}

// mark gives words a slot.
func (q *reading) mark(at, n int, s slot) {
	for i := at; i < at+n; i++ {
		q.slots[i] = s
	}
}

var (
	idForm = lazy.Pattern(`^(acct|cp|inv|tx|obl)_[A-Za-z0-9_-]{1,64}$`)
	// numberForm is how invoices are numbered: letters and digits with a sign
	// between them.
	numberForm = lazy.Pattern(`^[\p{L}]{1,12}[-/.]?\d[\p{L}\d]*([-/.][\p{L}\d]+)*$|^\d+([-/.][\p{L}\d]+)+$`)
)

// ids takes the ids and invoice numbers a question names.
func (q *reading) ids() {
	for at, w := range q.words {
		before := ""
		if at > 0 {
			before = q.text[at-1]
		}
		form := idForm().FindStringSubmatch(w.raw)
		switch {
		case form != nil && form[1] == "acct":
			q.accounts = append(q.accounts, w.raw)
		case form != nil && form[1] == "cp":
			q.parties, q.beside = append(q.parties, w.raw), before
		case form != nil && form[1] == "inv":
			q.invoices = append(q.invoices, w.raw)
		case form != nil:
			continue
		case isoMonth().MatchString(w.text), isoDate().MatchString(w.text), quarterForm().MatchString(w.text):
			continue
		case numberForm().MatchString(w.text),
			(before == "invoice" || before == "number" || before == "no") && strings.Trim(w.text, "0123456789") == "":
			q.invoices = append(q.invoices, w.raw)
			if before == "number" || before == "no" {
				q.slots[at-1] = filler
			}
		default:
			continue
		}
		q.slots[at] = named
	}
}

// wholeNames takes account names of several words, and those of one word before
// "account", as they stand: the words of "Yen balance" and of "Deposit account"
// would say something else.
func (q *reading) wholeNames(accounts []ledger.Account) {
	for at := range q.words {
		most, owners := 0, []string(nil)
		for _, a := range accounts {
			name := texts(split(a.Name))
			next := at + len(name)
			alone := len(name) == 1 && (next >= len(q.text) || q.text[next] != "account")
			switch {
			case alone || len(name) == 0 || q.slots[at] != none || !startsWith(q.text[at:], name) || len(name) < most:
			case len(name) > most:
				most, owners = len(name), []string{a.ID}
			default:
				owners = append(owners, a.ID)
			}
		}
		if most > 0 && len(owners) == 1 {
			q.accounts = append(q.accounts, owners...)
			q.mark(at, most, named)
		}
	}
}

func (q *reading) periods() {
	for at := 0; at < len(q.words); at++ {
		if q.slots[at] != none {
			continue
		}
		previous := ""
		if at > 0 {
			previous = q.text[at-1]
		}
		// A period does not reach over a name.
		end := at
		for end < len(q.words) && q.slots[end] == none {
			end++
		}
		if s, n := readSpan(q.text[at:end], previous); n > 0 {
			q.spans, q.edge = append(q.spans, s), previous
			q.mark(at, n, period)
			at += n - 1
		}
	}
}

// lexicon fills slots from the tables, the longest wording first.
func (q *reading) lexicon() {
	for at := 0; at < len(q.words); at++ {
		if q.slots[at] != none {
			continue
		}
		for _, p := range phrases()[q.text[at]] {
			if n := len(p.words); startsWith(q.text[at:], p.words) && !q.any(at, n, func(s slot) bool { return s != none }) {
				q.mark(at, n, p.says[0].slot)
				q.found = append(q.found, match{at, n, p.says})
				at += n - 1
				break
			}
		}
	}
}

// is says whether a word has one of some slots.
func (q *reading) is(at int, of ...slot) bool { return slices.Contains(of, q.slots[at]) }

// any says whether one of some words has such a slot.
func (q *reading) any(at, n int, is func(slot) bool) bool {
	return slices.ContainsFunc(q.slots[at:at+n], is)
}

// numbers takes the counts that are left, where they count something: a number
// by itself may be an amount, a day or anything.
func (q *reading) numbers() {
	for at, text := range q.text {
		if q.slots[at] != none {
			continue
		}
		if n, ok := count(text); ok && (at > 0 && q.is(at-1, newest, top) || at+1 < len(q.slots) && q.is(at+1, newest, top, topic, grouping, flow, state, kind, named, none, currency)) {
			q.counts = append(q.counts, n)
			q.slots[at] = number
		}
	}
}

// collect reads what the wordings say that no name has taken words of.
func (q *reading) collect() {
	for _, s := range q.slots {
		if s == named || s == period || s == number || s == none {
			q.has[s] = true
		}
	}
	for _, m := range q.found {
		if q.any(m.at, m.n, func(s slot) bool { return s == named }) {
			continue
		}
		for _, says := range m.says {
			q.say(says, strings.Join(q.text[m.at:m.at+m.n], " "))
		}
	}
}

func (q *reading) say(r reads, words string) {
	q.has[r.slot] = true
	list := map[slot]*[]string{topic: &q.topics, grouping: &q.groupings, flow: &q.flows, state: &q.states, kind: &q.kinds, currency: &q.curs, later: &q.laters}[r.slot]
	if list == nil {
		return
	}
	value := r.value
	if r.slot == later {
		value = words
	}
	if !slices.Contains(*list, value) {
		*list = append(*list, value)
	}
}

func quoted(list []string) string {
	out := make([]string, len(list))
	for i, text := range list {
		out[i] = fence.Text(text)
	}
	return strings.Join(out, ", ")
}

func today(asOf time.Time) string { return asOf.UTC().Format(time.DateOnly) }

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
