package question

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/robotmoney/mcp/shared/domain/ledger"
)

// Draft is what a model makes of a question: the plan's parts in the question's
// own words. It holds nothing that is taken at its word. Names are looked up in
// the ledger and must stand in the question, amounts and numbers must stand in it
// too, and a period the rules can read is read by the rules.
type Draft struct {
	Measure       Measure `json:"measure"`
	Grouping      string  `json:"grouping,omitempty"`
	Direction     string  `json:"direction,omitempty"`
	Counterparty  string  `json:"counterparty,omitempty"`
	Account       string  `json:"account,omitempty"`
	Category      string  `json:"category,omitempty"`
	Currency      string  `json:"currency,omitempty"`
	Status        string  `json:"status,omitempty"`
	Type          string  `json:"type,omitempty"`
	InvoiceNumber string  `json:"invoice_number,omitempty"`
	From          string  `json:"from,omitempty"`  // YYYY-MM-DD
	Until         string  `json:"until,omitempty"` // YYYY-MM-DD, not included
	Compare       bool    `json:"compare,omitempty"`
	Limit         int     `json:"limit,omitempty"`
}

// DraftSchema is the JSON schema of a Draft, the one thing a model may answer with.
func DraftSchema() json.RawMessage {
	text := func(description string) map[string]any {
		return map[string]any{"type": "string", "description": description}
	}
	oneOf := func(description string, values ...string) map[string]any {
		return map[string]any{"type": "string", "enum": values, "description": description}
	}
	var measures []string
	for m := range forms {
		measures = append(measures, string(m))
	}
	slices.Sort(measures)
	schema := map[string]any{
		"type": "object", "additionalProperties": false, "required": []string{"measure"},
		"properties": map[string]any{
			"measure":        oneOf("what is asked for", append(measures, unclear)...),
			"grouping":       oneOf("by what", ByCategory, ByParty, ByAccount, ByMonth, ByWeek, ByDay, ByAge),
			"direction":      oneOf("which way money moved; of invoices receivable or payable", "inflow", "outflow", "transfer", "receivable", "payable"),
			"counterparty":   text("a name, exactly as the question writes it"),
			"account":        text("a name, exactly as the question writes it"),
			"category":       text("a category of spending, exactly as the question writes it"),
			"currency":       text("an ISO code"),
			"status":         text("a status the question names"),
			"type":           oneOf("of bills", ledger.ObligationTypes...),
			"invoice_number": text("exactly as the question writes it"),
			"from":           text("first day of the period, YYYY-MM-DD"),
			"until":          text("first day after the period, YYYY-MM-DD"),
			"compare":        map[string]any{"type": "boolean", "description": "the period is held against the one before it"},
			"limit":          map[string]any{"type": "integer", "minimum": 0, "maximum": maxTransactions},
		},
	}
	raw, err := json.Marshal(schema)
	if err != nil {
		panic(err) // maps of texts
	}
	return raw
}

// unclear is the measure of a question that has none.
const unclear = "unclear"

// ParseDraft reads a draft. Members it does not know make it none.
func ParseDraft(raw []byte) (Draft, error) {
	var d Draft
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&d)
	return d, err
}

// Finish makes a plan of a draft, or an *Unanswered where the draft says what the
// question does not.
func (r Rules) Finish(ctx context.Context, asked Asked, d Draft) (Plan, error) {
	f, known := forms[d.Measure]
	if !known {
		return Plan{}, unanswered("The question is not clear. %s", offers)
	}
	q := read(asked.Text)
	q.ids()
	q.comparisons()
	q.periods()
	q.lexicon()
	q.numbers()
	q.collect()
	if q.has[turn] || !q.saysAll(d) {
		return Plan{}, unanswered("The plan for this question says what the question does not.")
	}
	p := Plan{Measure: d.Measure, Entity: f.entity, Grouping: d.Grouping, Order: f.orders[0]}
	p.Filters = Filters{Direction: d.Direction, Currency: strings.ToUpper(d.Currency), Status: d.Status, Type: d.Type, InvoiceNumber: d.InvoiceNumber}
	if !slices.Contains(f.groupings, p.Grouping) {
		p.Grouping = f.groupings[0]
	}
	if err := r.draftNames(ctx, asked, d, &p.Filters); err != nil {
		return p, err
	}
	if err := q.draftPeriods(d, f, midnight(asked.AsOf), &p); err != nil {
		return p, err
	}
	if p.Limit = d.Limit; f.limit > 0 && p.Limit == 0 && (p.ranks() || p.Measure == Largest || f.limit == maxTransactions) {
		p.Limit = min(5, f.limit)
	}
	if p.Validate() != nil {
		return p, unanswered("The plan for this question is not one that is computed.")
	}
	return p, nil
}

// saysAll says whether the names and numbers of a draft stand in the question.
func (q *reading) saysAll(d Draft) bool {
	for _, name := range []string{d.Counterparty, d.Account, d.Category, d.InvoiceNumber} {
		if words := texts(split(name)); name != "" && !holds(q.text, words) {
			return false
		}
	}
	return d.Limit == 0 || slices.Contains(q.counts, d.Limit) || d.Limit == 1 && len(q.counts) == 0
}

// draftNames looks the names of a draft up, each as its kind of name alone.
func (r Rules) draftNames(ctx context.Context, asked Asked, d Draft, f *Filters) error {
	accounts, err := r.Names.Accounts(ctx, asked)
	if err != nil {
		return err
	}
	categories := sync.OnceValues(func() ([]Category, error) { return r.Names.Categories(ctx, asked) })
	for _, name := range []struct {
		text string
		is   func(candidate) bool
		into *string
	}{
		{d.Account, func(c candidate) bool { return c.account }, &f.AccountID},
		{d.Counterparty, func(c candidate) bool { return !c.account && c.category == nil }, &f.CounterpartyID},
		{d.Category, func(c candidate) bool { return c.category != nil }, &f.Category},
	} {
		if name.text == "" {
			continue
		}
		q := read(name.text)
		if len(q.text) == 0 {
			return unanswered("The plan for this question names nothing.")
		}
		found, err := r.candidates(ctx, asked, q, accounts, categories, 0, len(q.text))
		if err != nil {
			return err
		}
		found = slices.DeleteFunc(found, func(c candidate) bool { return !name.is(c) })
		if len(found) == 0 {
			return unanswered("%s is not in the ledger.", quoted([]string{name.text}))
		}
		if found = q.prefer(found, len(q.text)); len(found) > 1 {
			return ambiguous(name.text, found)
		}
		*name.into = found[0].id
	}
	return nil
}

// draftPeriods sets the periods of a plan. What the rules can read of the
// question they read; only where it names none is the draft's taken.
func (q *reading) draftPeriods(d Draft, f form, day time.Time, p *Plan) error {
	if f.period == never {
		return nil
	}
	if d.Compare && f.comparison != never {
		now, then, err := q.compared(day)
		p.Period, p.Comparison = &now, &then
		return err
	}
	ahead := p.Measure == Due
	switch {
	case len(q.spans) > 1:
		return unanswered("The question names several periods. Ask for one at a time.")
	case len(q.spans) == 1:
		var err error
		p.Period, err = q.period(day, ahead, span{})
		return err
	case d.From != "" && d.Until != "":
		given := Period{From: d.From, Until: d.Until}
		from, until, err := given.bounds()
		if err != nil || !from.Before(until) {
			return unanswered("The plan for this question has no period.")
		}
		if tomorrow := day.AddDate(0, 0, 1); !ahead && until.After(tomorrow) {
			until = tomorrow
		}
		given = period(from, until)
		p.Period = &given
		return given.sensible(day, ahead)
	case f.period == must:
		usual := span{unit: monthsOf}
		if ahead {
			usual = span{unit: days, count: usualDays, ahead: true}
		}
		resolved := usual.resolve(day, ahead)
		if p.Measure == Burn || p.Measure == Runway {
			resolved = complete(day, burnMonths)
		}
		p.Period = &resolved
	}
	return nil
}
