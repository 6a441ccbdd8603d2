package policy

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
)

var (
	allWindows = []Window{Hour, Day, Week, ThirtyDay}
	allPer     = []Per{PerAgent, PerCounterparty, PerTenant}
)

// when reads a rule's conditions. An array may be empty here: the condition is
// then there and holds for nobody, which Lint refuses.
func when(n node) (w When, err error) {
	listNames, ids, words := list(0, listForm.text), list(0, idForm.text), list(0, wordForm.text)
	err = n.object(
		may("counterparty.in", set(&w.CounterpartyIn, listNames)),
		may("counterparty.not_in", set(&w.CounterpartyNotIn, listNames)),
		may("counterparty.verified_status.in", set(&w.CounterpartyVerified, list(0, oneOf(ledger.VerifiedStatuses)))),
		may("counterparty.risk_level.lte", set(&w.CounterpartyRisk, oneOf(ledger.RiskLevels))),
		may("counterparty.type.in", set(&w.CounterpartyType, list(0, oneOf(ledger.CounterpartyTypes)))),
		may("amount.lte", setNew(&w.AmountLTE, sum)),
		may("amount.gt", setNew(&w.AmountGT, sum)),
		may("action.in", set(&w.ActionIn, words)),
		may("action.not_in", set(&w.ActionNotIn, words)),
		may("agent.id.in", set(&w.AgentID, ids)),
		may("agent.role.in", set(&w.AgentRole, words)),
		may("agent.confidence.gte", setNew(&w.AgentConfidence, confidence)),
		may("agent.behavior_hash.in", set(&w.AgentBehavior, list(0, hash))),
		may("source_account.in", set(&w.SourceAccount, ids)),
		may("obligation.linked", setNew(&w.ObligationLinked, boolean)),
		may("time_window", setNew(&w.TimeWindow, hours)),
		may("spend_in_window", setNew(&w.SpendInWindow, spendCap)),
		may("count_in_window", setNew(&w.CountInWindow, countCap)),
	)
	return w, err
}

// sum reads an amount with its currency. The text is kept as it was written.
func sum(n node) (s Sum, err error) {
	err = n.object(
		must("amount", set(&s.Amount, plain(`a decimal in a string, such as "100.00"`))),
		must("currency", set(&s.Currency, plain("a currency's code in a string"))),
	)
	if err != nil {
		return s, err
	}
	c, err := money.Parse(s.Currency)
	if err != nil {
		return s, under("currency", err)
	}
	if _, err := money.ParseAmount(s.Amount, c); err != nil {
		return s, under("amount", err)
	}
	return s, nil
}

// plain reads a string whatever is in it.
func plain(want string) func(node) (string, error) {
	return func(n node) (string, error) {
		s, ok := n.value.(string)
		if !ok {
			return "", wrong(n, want)
		}
		return s, nil
	}
}

// hash reads 32 bytes as the chain's records are written: hashes are compared as
// text.
func hash(n node) (string, error) {
	s, _ := n.value.(string)
	digits, marked := strings.CutPrefix(s, "0x")
	if !marked || len(digits) != 64 || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", wrong(n, "0x and 64 lower-case hexadecimal digits")
	}
	return s, nil
}

func confidence(n node) (float64, error) {
	number, ok := n.value.(json.Number)
	f, err := number.Float64()
	if !ok || err != nil || f < 0 || f > 1 {
		return 0, wrong(n, "a number from 0 to 1")
	}
	return f, nil
}

func boolean(n node) (bool, error) {
	b, ok := n.value.(bool)
	if !ok {
		return false, wrong(n, "true or false")
	}
	return b, nil
}

// whole reads a whole number that is written in digits alone: 1.0 and 1e0 have
// the same canonical form, and are refused so that nobody has to know it.
func whole(least int64) func(node) (int64, error) {
	return func(n node) (int64, error) {
		number, _ := n.value.(json.Number)
		i, err := strconv.ParseInt(number.String(), 10, 64)
		if err != nil || i < least || i > maxWhole || number.String() != strconv.FormatInt(i, 10) {
			return 0, wrong(n, fmt.Sprintf("a whole number from %d to 2^53", least))
		}
		return i, nil
	}
}

func hours(n node) (h Hours, err error) {
	err = n.object(
		must("days", set(&h.Days, list(1, oneOf(dayNames[:])))),
		must("from", set(&h.From, clock(24*60-1, "a time from 00:00 to 23:59"))),
		must("to", set(&h.To, clock(24*60, "a time from 00:00 to 24:00"))),
		must("zone", set(&h.Zone, zone)),
	)
	return h, err
}

func clock(last int, want string) func(node) (string, error) {
	return func(n node) (string, error) {
		s, _ := n.value.(string)
		if minute, ok := minuteOf(s); !ok || minute > last {
			return "", wrong(n, want)
		}
		return s, nil
	}
}

func zone(n node) (string, error) {
	s, _ := n.value.(string)
	if _, ok := location(s); !ok {
		return "", wrong(n, "a time zone such as Europe/Berlin, or UTC")
	}
	return s, nil
}

func spendCap(n node) (c SpendCap, err error) {
	err = n.object(
		must("window", set(&c.Window, oneOf(allWindows))),
		must("per", set(&c.Per, oneOf(allPer))),
		may("lte", setNew(&c.LTE, sum)),
		may("gt", setNew(&c.GT, sum)),
	)
	return c, first(err, oneBound(c.LTE != nil, c.GT != nil))
}

func countCap(n node) (c CountCap, err error) {
	err = n.object(
		must("window", set(&c.Window, oneOf(allWindows))),
		must("per", set(&c.Per, oneOf(allPer))),
		may("lte", setNew(&c.LTE, whole(0))),
		may("gt", setNew(&c.GT, whole(0))),
	)
	return c, first(err, oneBound(c.LTE != nil, c.GT != nil))
}

// oneBound refuses a cap that bounds nothing, and one whose two bounds would
// have to be judged together.
func oneBound(lte, gt bool) error {
	switch {
	case lte && gt:
		return &placed{reason: "read both lte and gt, want one of them"}
	case !lte && !gt:
		return &placed{reason: "read neither lte nor gt, want one of them"}
	}
	return nil
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
