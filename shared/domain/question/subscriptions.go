package question

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// subscription is an obligation that recurs.
type subscription struct {
	ledger.Obligation
	monthly *big.Rat // in minor units; nil where it does not say how it recurs
	cost    money.Amount
	last    *moved // the latest charge, nil for none
	every   time.Duration
}

func subscriptionCost(s subscription) money.Amount { return s.cost }

const (
	day  = 24 * time.Hour
	year = 365 * day
	// grace is how long after its day a charge may be missing before the
	// subscription counts as not charged: banks take days.
	grace = 20 * day
	// latestCharges is how many of a counterparty's rows are looked at for the
	// last charge.
	latestCharges = 20
)

// recurrence reads how often a rule comes: how many times in twelve months, and
// how long lies between.
func recurrence(rule string) (times *big.Rat, every time.Duration, ok bool) {
	interval, freq := int64(1), ""
	for part := range strings.SplitSeq(strings.TrimPrefix(strings.ToUpper(rule), "RRULE:"), ";") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "FREQ":
			freq = value
		case "INTERVAL":
			n, err := strconv.ParseInt(value, 10, 32)
			if err != nil || n < 1 {
				return nil, 0, false
			}
			interval = n
		}
	}
	n := map[string]int64{"DAILY": 365, "WEEKLY": 52, "MONTHLY": 12, "YEARLY": 1}[freq]
	if n == 0 {
		return nil, 0, false
	}
	return big.NewRat(n, interval), time.Duration(interval) * year / time.Duration(n), true
}

// subscriptions answers what recurs, what it costs a month and when it was last
// charged.
func (x *execution) subscriptions(ctx context.Context) (string, error) {
	list, err := x.subscribed(ctx)
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return fmt.Sprintf("No subscription%s is active on %s.", x.limited(), x.day), nil
	}
	var parties []string
	for _, s := range list {
		parties = append(parties, s.CounterpartyID)
	}
	names, err := x.names(ctx, parties...)
	if err != nil {
		return "", err
	}
	byCurrency(list, subscriptionCost)
	for _, s := range list {
		x.cite(1, "obligation", s.ID, fmt.Sprintf("%s %s a month", partyName(names, s.CounterpartyID), spell(s.cost)))
	}
	for _, s := range list {
		if s.last != nil {
			x.cite(2, "transaction", s.last.ID, memo(s.last.Transaction, names)+" "+spell(s.last.amount))
		}
	}
	if x.plan.Filters.Status == "unused" {
		return x.tellUnused(list, names), nil
	}
	totals, err := monthlyTotals(list)
	if err != nil {
		return "", err
	}
	lines := []string{}
	for _, s := range list {
		lines = append(lines, "- "+s.say(names))
	}
	return fmt.Sprintf("Subscriptions%s come to %s a month, on %s:\n%s", x.limited(), totals.spelled(), plural(len(list), "active subscription", "active subscriptions"), strings.Join(lines, "\n")), nil
}

func (s subscription) say(names map[string]ledger.Counterparty) string {
	text := fmt.Sprintf("%s %s a month", partyName(names, s.CounterpartyID), spell(s.cost))
	if due, err := amount(s.AmountDue, s.Currency); err == nil && due != s.cost {
		text += fmt.Sprintf(" (%s each time)", spell(due))
	}
	if s.monthly == nil {
		text += ", how often is not on record"
	}
	if s.last == nil {
		return text + ", never charged (`" + s.ID + "`)"
	}
	return fmt.Sprintf("%s, last charged %s on %s (`%s`)", text, spell(s.last.amount), s.last.TransactionDate, s.ID)
}

// tellUnused: whether somebody uses what is paid for, no ledger knows; whether it
// is still charged, it does.
func (x *execution) tellUnused(list []subscription, names map[string]ledger.Counterparty) string {
	var lines []string
	for _, s := range list {
		quiet := s.last == nil
		if !quiet {
			last, err := time.Parse(time.DateOnly, s.last.TransactionDate)
			quiet = err == nil && s.monthly != nil && midnight(x.asOf).Sub(last) > s.every+grace
		}
		if quiet {
			lines = append(lines, "- "+s.say(names))
		}
	}
	const unknown = "Whether somebody uses them is not in the ledger."
	if len(lines) == 0 {
		return fmt.Sprintf("None of the %s went without its charge: each was charged when it was due. %s", plural(len(list), "active subscription", "active subscriptions"), unknown)
	}
	return fmt.Sprintf("%s not charged when a charge was due:\n%s\n%s", plural(len(lines), "active subscription was", "active subscriptions were"), strings.Join(lines, "\n"), unknown)
}

// monthlyTotals adds up what subscriptions cost a month. It is rounded once, at
// the end.
func monthlyTotals(list []subscription) (tally, error) {
	exact, counts := map[money.Currency]*big.Rat{}, map[money.Currency]int64{}
	for _, s := range list {
		c := s.cost.Currency()
		if exact[c] == nil {
			exact[c] = new(big.Rat)
		}
		if s.monthly != nil {
			exact[c].Add(exact[c], s.monthly)
		}
		counts[c]++
	}
	t := tally{}
	for c, sum := range exact {
		a, err := money.FromMinor(rounded(sum.Num(), sum.Denom()).String(), c)
		if err != nil {
			return nil, err
		}
		if err := t.add(a, counts[c]); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// subscribed are the active subscriptions with their costs and last charges.
func (x *execution) subscribed(ctx context.Context) ([]subscription, error) {
	f := x.plan.Filters
	q := record.Query{Index: 1, PK: key.LedgerList(x.tenant, id.Obligation, "", "").PK, Reverse: true}
	if f.CounterpartyID != "" {
		if err := x.exist(ctx, Filters{CounterpartyID: f.CounterpartyID}); err != nil {
			return nil, err
		}
		q.Index, q.PK = 3, key.LedgerListOf(x.tenant, id.Obligation, f.CounterpartyID, "", "").PK
	}
	all, whole, err := rows[ledger.Obligation](ctx, x.store, q, maxOwed)
	if err != nil {
		return nil, err
	}
	if !whole {
		return nil, unanswered("There are more than %d obligations, too many to look at. Ask for one counterparty's subscription.", maxOwed)
	}
	var list []subscription
	for _, o := range all {
		if o.Type != "subscription" || o.Direction != "payable" || o.Status == "cancelled" || o.Status == "paid" || o.Status == "disputed" || f.Currency != "" && o.Currency != f.Currency {
			continue
		}
		s, err := x.subscription(ctx, o)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

func (x *execution) subscription(ctx context.Context, o ledger.Obligation) (subscription, error) {
	due, err := amount(o.AmountDue, o.Currency)
	if err != nil {
		return subscription{}, fmt.Errorf("obligation %s: %w", o.ID, err)
	}
	s := subscription{Obligation: o, cost: due}
	if times, every, ok := recurrence(value(o.Recurrence)); ok {
		minor, fine := new(big.Rat).SetString(due.Minor())
		if !fine {
			return s, fmt.Errorf("obligation %s: amount %s", o.ID, due)
		}
		s.every, s.monthly = every, minor.Mul(minor, times.Quo(times, big.NewRat(12, 1)))
		if s.cost, err = money.FromMinor(rounded(s.monthly.Num(), s.monthly.Denom()).String(), due.Currency()); err != nil {
			return s, err
		}
	}
	s.last, err = x.lastCharge(ctx, o)
	return s, err
}

// lastCharge is the latest of the counterparty's rows that belongs to an
// obligation: the obligation itself may link years of them.
func (x *execution) lastCharge(ctx context.Context, o ledger.Obligation) (*moved, error) {
	q := x.within(Filters{CounterpartyID: o.CounterpartyID}, Period{Until: x.tomorrow()})
	list, _, err := rows[ledger.Transaction](ctx, x.store, q, latestCharges)
	if err != nil {
		return nil, err
	}
	all, err := priced(list)
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		linked := slices.Contains(o.LinkedTransactionIDs, m.ID) || len(o.LinkedTransactionIDs) == 0
		if linked && m.Direction == "outflow" && (m.Status == "posted" || m.Status == "cleared") {
			return &m, nil
		}
	}
	return nil, nil
}
