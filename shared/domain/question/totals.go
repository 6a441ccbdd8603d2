package question

import (
	"context"
	"fmt"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/fence"
	"github.com/robotmoney/mcp/shared/domain/money"
)

// directionOf is which way the money of a measure goes.
func directionOf(m Measure) string {
	if m == Revenue {
		return "inflow"
	}
	return "outflow"
}

// noun is what a direction is called.
func noun(direction string) string {
	if direction == "inflow" {
		return "revenue"
	}
	return "spending"
}

// capital begins a sentence.
func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// scope says what of a flow the plan is about.
func (x *execution) scope(direction string) string {
	f := x.plan.Filters
	text := ""
	if f.Category != "" {
		text += " on " + fence.Text(f.Category)
	}
	switch {
	case x.party != "" && direction == "inflow":
		text += " from " + x.party
	case x.party != "":
		text += " with " + x.party
	}
	if f.AccountID != "" {
		text += " on the account `" + f.AccountID + "`"
	}
	return text + f.amounts()
}

// amounts says which amounts filters leave.
func (f Filters) amounts() string {
	var text string
	for _, limit := range []struct{ word, amount string }{{" of more than ", f.AmountOver}, {" of less than ", f.AmountUnder}} {
		if a, err := amount(limit.amount, f.Currency); limit.amount != "" && err == nil {
			text += limit.word + spell(a)
		}
	}
	return text
}

// total answers what was spent, or came in.
func (x *execution) total(ctx context.Context) (string, error) {
	direction := directionOf(x.plan.Measure)
	if err := x.place(ctx); err != nil {
		return "", err
	}
	t, err := x.totals(ctx, direction, *x.plan.Period)
	if err != nil {
		return "", err
	}
	what := noun(direction) + x.scope(direction)
	if t.count() == 0 {
		return x.nothing(ctx, what)
	}
	p, err := x.since(ctx, *x.plan.Period)
	if err != nil {
		return "", err
	}
	if err := x.support(ctx, direction, *x.plan.Period, t.count()); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %s was %s, in %s.", capital(what), p.in(), t.spelled(), transactionsOf(t.count())), nil
}

// nets is inflow, outflow and what is left.
type nets struct{ in, out, net tally }

func (x *execution) nets(ctx context.Context, p Period) (nets, error) {
	n := nets{net: tally{}}
	var err error
	if n.in, err = x.totals(ctx, "inflow", p); err != nil {
		return n, err
	}
	if n.out, err = x.totals(ctx, "outflow", p); err != nil {
		return n, err
	}
	for _, c := range n.in {
		if err := n.net.add(c.amount, c.count); err != nil {
			return n, err
		}
	}
	for _, c := range n.out {
		if err := n.net.add(c.amount.Neg(), c.count); err != nil {
			return n, err
		}
	}
	return n, nil
}

// of is the amount of a currency, nothing where there is none.
func (t tally) of(c money.Currency) money.Amount {
	if cell, ok := t[c]; ok {
		return cell.amount
	}
	return money.Zero(c)
}

// net answers inflow less outflow.
func (x *execution) net(ctx context.Context) (string, error) {
	if err := x.place(ctx); err != nil {
		return "", err
	}
	n, err := x.nets(ctx, *x.plan.Period)
	if err != nil {
		return "", err
	}
	if n.net.count() == 0 {
		return x.nothing(ctx, "inflow or outflow"+x.scope("outflow"))
	}
	var parts []string
	for _, c := range n.net.currencies() {
		word := "even"
		switch n.net.of(c).Sign() {
		case 1:
			word = "positive"
		case -1:
			word = "negative"
		}
		parts = append(parts, fmt.Sprintf("%s is net %s: inflow %s, outflow %s", c, word, spell(n.in.of(c)), spell(n.out.of(c))))
	}
	for _, way := range []struct {
		direction string
		t         tally
	}{{"inflow", n.in}, {"outflow", n.out}} {
		x.ranked = nil // by direction
		list, err := x.contributors(ctx, way.direction, *x.plan.Period, way.t.count())
		if err != nil {
			return "", err
		}
		if err := x.citeMoved(ctx, list, maxEvidence/2); err != nil {
			return "", err
		}
	}
	p, err := x.since(ctx, *x.plan.Period)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Net cash flow%s %s was %s. %s.", x.scope("outflow"), p.in(), n.net.spelled(), strings.Join(parts, "; ")), nil
}

// monthly answers with the months of a period one by one.
func (x *execution) monthly(ctx context.Context) (string, error) {
	from, until, err := x.plan.Period.bounds()
	if err != nil {
		return "", err
	}
	if err := x.place(ctx); err != nil {
		return "", err
	}
	direction := directionOf(x.plan.Measure)
	what := noun(direction)
	if x.plan.Measure == Net {
		what = "net cash flow"
	}
	var lines []string
	all := tally{}
	for at := from; at.Before(until); at = addMonths(start(at, monthsOf), 1) {
		if len(lines) == maxMonths {
			return "", unanswered("At most %d months are answered one by one. Ask for a shorter period.", maxMonths)
		}
		end := addMonths(start(at, monthsOf), 1)
		if end.After(until) {
			end = until
		}
		p := period(at, end)
		var t tally
		if x.plan.Measure == Net {
			n, err := x.nets(ctx, p)
			if err != nil {
				return "", err
			}
			t = n.net
		} else if t, err = x.totals(ctx, direction, p); err != nil {
			return "", err
		}
		for _, c := range t {
			if err := all.add(c.amount, c.count); err != nil {
				return "", err
			}
		}
		said := "nothing"
		if t.count() > 0 {
			said = t.spelled()
		}
		lines = append(lines, fmt.Sprintf("- %s: %s", p.Label, said))
	}
	if all.count() == 0 {
		return x.nothing(ctx, what+x.scope(direction))
	}
	if err := x.support(ctx, direction, *x.plan.Period, all.count()); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s%s %s was %s:\n%s", capital(what), x.scope(direction), x.plan.Period.in(), all.spelled(), strings.Join(lines, "\n")), nil
}

// count answers how many transactions there are.
func (x *execution) count(ctx context.Context) (string, error) {
	if err := x.place(ctx); err != nil {
		return "", err
	}
	f := x.plan.Filters
	directions := []string{"inflow", "outflow", "transfer", "adjustment"}
	if f.Direction != "" {
		directions = []string{f.Direction}
	}
	status := "posted or cleared"
	if f.Status != "" || f.Reconciliation != "" {
		status = strings.TrimSpace(f.Status + " " + f.Reconciliation)
	}
	var n int64
	var parts []string
	for _, direction := range directions {
		m, err := x.countOf(ctx, direction)
		if err != nil {
			return "", err
		}
		if n += m; m > 0 && len(directions) > 1 {
			parts = append(parts, fmt.Sprintf("%d %s", m, direction))
		}
	}
	p, err := x.since(ctx, *x.plan.Period)
	if err != nil {
		return "", err
	}
	what := strings.TrimSpace(fmt.Sprintf("%s %s", status, f.Direction))
	if n == 0 {
		return x.noneCounted(ctx, what, p)
	}
	if f.Direction == "" {
		err = x.support(ctx, "outflow", *x.plan.Period, n)
	} else if f.Status == "" {
		err = x.support(ctx, f.Direction, *x.plan.Period, n)
	}
	text := fmt.Sprintf("%s %s%s were %s.", transactionsOf(n), p.in(), x.scope(f.Direction), what)
	if len(parts) > 0 {
		text = fmt.Sprintf("%s %s%s were %s: %s.", transactionsOf(n), p.in(), x.scope(""), what, strings.Join(parts, ", "))
	}
	return text, err
}

// noneCounted answers that there are none, where the ledger covers the period.
func (x *execution) noneCounted(ctx context.Context, what string, p Period) (string, error) {
	if _, err := x.nothing(ctx, "transactions"); err != nil {
		return "", err
	}
	return fmt.Sprintf("0 transactions %s%s were %s.", p.in(), x.scope(x.plan.Filters.Direction), what), nil
}

// countOf counts one direction: by rollups what was posted or cleared, anything
// else row by row.
func (x *execution) countOf(ctx context.Context, direction string) (int64, error) {
	f := x.plan.Filters
	if f.Status == "" && f.Reconciliation == "" {
		t, err := x.totals(ctx, direction, *x.plan.Period)
		return t.count(), err
	}
	p, err := x.covered(ctx, *x.plan.Period)
	if err != nil {
		return 0, err
	}
	f.Direction = direction
	list, err := x.fitting(ctx, f, p)
	return int64(len(list)), err
}
