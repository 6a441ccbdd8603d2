package question

import (
	"context"
	"fmt"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/fence"
)

// paymentsLookedAt is how many of a counterparty's rows are looked at for the
// last payment.
const paymentsLookedAt = 100

// paymentsAtOnce is how many are read at a time: the first one nearly always is
// what is looked for.
const paymentsAtOnce = 5

// counterparty answers who somebody is.
func (x *execution) counterparty(ctx context.Context) (string, error) {
	name := x.plan.Filters.CounterpartyID
	if err := x.exist(ctx, Filters{CounterpartyID: name}); err != nil {
		return "", err
	}
	found, err := x.names(ctx, name)
	if err != nil {
		return "", err
	}
	c := found[name]
	text := fmt.Sprintf("%s (`%s`) is a counterparty of the type %s. Risk: %s. Verified status: %s.", fence.Text(c.Name), c.ID, c.Type, c.RiskLevel, c.VerifiedStatus)
	if len(c.Aliases) > 0 {
		text += " Also known as " + quoted(c.Aliases[:min(len(c.Aliases), 5)]) + "."
	}
	if len(c.CreatedAt) >= len("2006-01-02") {
		text += " On record since " + c.CreatedAt[:len("2006-01-02")] + "."
	}
	if changed := value(c.DetailsChangedAt); len(changed) >= len("2006-01-02") {
		text += " Its details last changed on " + changed[:len("2006-01-02")] + "."
	}
	x.cite(1, "counterparty", c.ID, fmt.Sprintf("%s, %s, risk %s, %s", fence.Text(c.Name), c.Type, c.RiskLevel, c.VerifiedStatus))
	for _, way := range []struct{ direction, last, none string }{
		{"outflow", "Last paid", "It was never paid"}, {"inflow", "It last paid us", "It never paid us"},
	} {
		m, _, err := x.lastMoved(ctx, name, way.direction)
		switch {
		case err != nil:
			return "", err
		case m != nil:
			text += fmt.Sprintf(" %s %s on %s (`%s`).", way.last, spell(m.amount), m.TransactionDate, m.ID)
			x.cite(2, "transaction", m.ID, memo(m.Transaction, found)+" "+spell(m.amount))
		case way.direction == "outflow" && c.Type != "customer" || way.direction == "inflow" && c.Type == "customer":
			text += " " + way.none + "."
		}
	}
	return text, nil
}

// lastMoved is the latest posted or cleared row with a counterparty, and whether
// all rows were looked at where there is none.
func (x *execution) lastMoved(ctx context.Context, party, direction string) (*moved, bool, error) {
	f := Filters{CounterpartyID: party, Direction: direction, Status: Settled}
	q := x.within(f, Period{Until: x.tomorrow()})
	q.Limit = paymentsAtOnce
	for looked := 0; ; looked += q.Limit {
		page, err := x.store.Query(ctx, q)
		if err != nil {
			return nil, false, err
		}
		for _, item := range page.Items {
			m, err := movedOf(item)
			if err != nil {
				return nil, false, err
			}
			if f.fits(m) {
				return &m, true, nil
			}
		}
		if q.After = page.Next; page.Next == nil || looked >= paymentsLookedAt {
			return nil, page.Next == nil, nil
		}
	}
}

// paidBefore answers whether somebody was ever paid, or paid us.
func (x *execution) paidBefore(ctx context.Context) (string, error) {
	f := x.plan.Filters
	if err := x.exist(ctx, Filters{CounterpartyID: f.CounterpartyID}); err != nil {
		return "", err
	}
	m, whole, err := x.lastMoved(ctx, f.CounterpartyID, f.Direction)
	if err != nil {
		return "", err
	}
	verb := [2]string{"paid", "was never paid"}
	if f.Direction == "inflow" {
		verb = [2]string{"paid by", "never paid us"}
	}
	if m == nil && !whole {
		return "", unanswered("None of the %d newest transactions with %s is such a payment, and older ones were not looked at.", paymentsLookedAt, x.party)
	}
	if m == nil {
		x.cite(1, "counterparty", f.CounterpartyID, strings.SplitN(x.party, " (", 2)[0])
		return fmt.Sprintf("No: %s %s up to %s.", x.party, verb[1], x.day), nil
	}
	found, err := x.names(ctx, f.CounterpartyID)
	if err != nil {
		return "", err
	}
	x.cite(1, "transaction", m.ID, memo(m.Transaction, found)+" "+spell(m.amount))
	return fmt.Sprintf("Yes: last %s %s %s on %s (`%s`).", verb[0], x.party, spell(m.amount), m.TransactionDate, m.ID), nil
}
