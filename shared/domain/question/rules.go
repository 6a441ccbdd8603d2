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

// reading is a question while it is read: a slot for each word, and what the
// slots say.
type reading struct {
	words []word
	text  []string
	slots []slot // by word
	found []match

	has        map[slot]bool
	topics     []string
	groupings  []string
	flows      []string
	states     []string
	kinds      []string
	curs       []string
	laters     []string
	compares   []string
	subjects   []string // words for categories
	spans      []span
	edges      []string // the word before each span
	counts     []int
	sums       []sum
	accounts   []string
	parties    []string
	categories []Category
	invoices   []string
	beside     string // the word before a counterparty's name
	home       string // the currency of most accounts
	day        time.Time
}

// match is a wording of the lexicon and where it stands.
type match struct {
	at, n int
	says  []reads
}

// Plan reads a question.
func (r Rules) Plan(ctx context.Context, asked Asked) (Planned, error) {
	plan, err := r.plan(ctx, asked)
	return Planned{Plan: plan, Model: RulesModel}, err
}

func (r Rules) plan(ctx context.Context, asked Asked) (Plan, error) {
	if err := Refused(asked.Text); err != nil {
		return Plan{}, err
	}
	q := read(asked.Text)
	accounts, err := r.Names.Accounts(ctx, asked)
	if err != nil {
		return Plan{}, err
	}
	var codes []string
	for _, a := range accounts {
		if a.Status == "active" {
			codes = append(codes, a.Currency)
		}
	}
	q.home = homeCurrency(codes)
	q.ids()
	q.wholeNames(accounts)
	q.comparisons()
	q.periods()
	q.amounts()
	q.lexicon()
	q.numbers()
	if err := r.resolve(ctx, asked, q, accounts); err != nil {
		return Plan{}, err
	}
	return q.plan(midnight(asked.AsOf))
}

func read(text string) *reading {
	q := &reading{words: split(text), has: map[slot]bool{}}
	q.text, q.slots = texts(q.words), make([]slot, len(q.words))
	return q
}

// Refused says that a text asks to do something, nil when it does not. Every
// planner asks it first: what a model makes of a command is not looked at.
func Refused(text string) error {
	if act := read(text).act(); act != "" {
		return unanswered("This tool answers questions and moves no money: it does not %s anything. To have a payment made, propose it with `payment_intent.propose`; the policy and the people it names decide.", act)
	}
	return nil
}

// act returns the verb of a sentence that asks to do something, empty when
// there is none.
func (q *reading) act() string {
	for at, w := range q.words {
		after := at > 0 && slices.Contains([]string{"and", "then", "also", "please"}, q.text[at-1])
		if !w.begins && !after {
			continue
		}
		if act := actOf(q.text[at:]); act != "" {
			return act
		}
	}
	return ""
}

// actOf is the verb that words begin with, after what may stand before it.
func actOf(words []string) string {
	for n := 1; n > 0; words = words[n:] {
		if n := longest(words, acts()); n > 0 && longest(words, shows()) == 0 {
			return strings.Join(words[:n], " ")
		}
		n = longest(words, before())
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
		case q.isDate(at), amountForm().MatchString(w.text):
			if (before == "invoice" || before == "number" || before == "no") && !isDateText(w.text) && strings.Trim(w.text, "0123456789") == "" {
				q.invoice(at, before)
			}
			continue
		case numberForm().MatchString(w.text) && (strings.ContainsAny(w.text, "-/.") || slices.Contains(billed, before)):
			q.invoice(at, before)
			continue
		default:
			continue
		}
		q.slots[at] = named
	}
}

// billed are the words in front of which a number without a sign in it is an
// invoice's: elsewhere Office365 is a name.
var billed = []string{"invoice", "inv", "number", "no", "bill"}

func (q *reading) invoice(at int, before string) {
	q.invoices = append(q.invoices, q.words[at].raw)
	q.slots[at] = named
	if before == "number" || before == "no" {
		q.slots[at-1] = filler
	}
}

// isDate says whether a word is a date or a part of one.
func (q *reading) isDate(at int) bool { return isDateText(q.text[at]) }

func isDateText(text string) bool {
	return isoMonth().MatchString(text) || isoDate().MatchString(text) || quarterForm().MatchString(text) || slashDate().MatchString(text) || dayForm().MatchString(text) && strings.TrimLeft(text, "0123456789") != ""
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

// comparisons takes what says which period is held against another and has the
// words of a period in it, such as "same month last year".
func (q *reading) comparisons() {
	for at := range q.words {
		for _, p := range phrases()[q.text[at]] {
			n := len(p.words)
			if p.says[0].slot == compare && p.says[0].value != "" && n > 1 && startsWith(q.text[at:], p.words) && !q.any(at, n, func(s slot) bool { return s != none }) {
				q.mark(at, n, compare)
				q.found = append(q.found, match{at, n, p.says})
				break
			}
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
			q.spans, q.edges = append(q.spans, s), append(q.edges, previous)
			q.mark(at, n, dated)
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

// any says whether one of some words has such a slot.
func (q *reading) any(at, n int, is func(slot) bool) bool {
	return slices.ContainsFunc(q.slots[at:at+n], is)
}

// numbers takes the counts that are left, where they count something: a number
// by itself may be an amount, a day or anything.
func (q *reading) numbers() {
	counted := []slot{newest, top, topic, grouping, flow, state, kind, named, none, currency, subject}
	for at, text := range q.text {
		if q.slots[at] != none {
			continue
		}
		if n, ok := count(text); ok && (at > 0 && (q.slots[at-1] == newest || q.slots[at-1] == top) || at+1 < len(q.slots) && slices.Contains(counted, q.slots[at+1])) {
			q.counts = append(q.counts, n)
			q.slots[at] = number
		}
	}
}

// collect reads what the wordings say that no name has taken words of.
func (q *reading) collect() {
	for _, s := range q.slots {
		if s == named || s == dated || s == number || s == none || s == amountSlot {
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
	list := map[slot]*[]string{
		topic: &q.topics, grouping: &q.groupings, flow: &q.flows, state: &q.states, kind: &q.kinds, currency: &q.curs,
		later: &q.laters, turn: &q.laters, compare: &q.compares, subject: &q.subjects,
	}[r.slot]
	if list == nil {
		return
	}
	value := r.value
	if r.slot == later || r.slot == turn {
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

func today(asOf time.Time) string { return asOf.Format(time.DateOnly) }

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
