package books

import (
	"fmt"
	"strings"
	"time"
)

// Args are an operation's arguments by name.
type Args map[string]string

// operations are what can be computed, by name.
var operations = map[string]func(b *Book, a Args) (Expectation, error){
	"cash": (*Book).cash, "balance": (*Book).balance, "flow": (*Book).flow, "net": (*Book).net, "average": (*Book).average,
	"burn": (*Book).burn, "runway": (*Book).runway, "example": (*Book).example, "top": (*Book).top, "largest": (*Book).largest,
	"compare": (*Book).compare, "movers": (*Book).movers, "due": (*Book).due, "overdue": (*Book).overdue, "priority": (*Book).priority,
	"duetype": (*Book).dueType, "payables": (*Book).payables, "receivables": (*Book).receivables, "aging": (*Book).aging,
	"overduedebtors": (*Book).overdueDebtors, "invoice": (*Book).invoice, "invoices": (*Book).invoices, "invoicecount": (*Book).invoiceCount,
	"subscriptions": (*Book).subscriptions, "subscription": (*Book).subscription, "unused": (*Book).unused, "count": (*Book).count,
	"countover": (*Book).countOver, "listover": (*Book).listOver, "last": (*Book).last, "party": (*Book).party,
	"lastpayment": (*Book).lastPayment, "paidbefore": (*Book).paidBefore, "neverpaid": (*Book).neverPaid, "unreconciled": (*Book).unreconciled,
}

// Expect computes an operation written as its name and arguments, such as
// "flow direction=outflow period=2025-09".
func (b *Book) Expect(text string) (Expectation, error) {
	name, rest, _ := strings.Cut(text, " ")
	if name == "says" {
		return Expectation{Must: strings.Split(rest, "|")}, nil
	}
	operation, known := operations[name]
	if !known {
		return Expectation{}, fmt.Errorf("no operation %q", name)
	}
	args := Args{}
	for _, field := range strings.Fields(rest) {
		key, value, ok := strings.Cut(field, "=")
		if !ok {
			args[key] = "yes"
			continue
		}
		args[key] = value
	}
	e, err := operation(b, args)
	if err != nil {
		return e, fmt.Errorf("%s: %w", text, err)
	}
	if len(e.Lead)+len(e.Must) == 0 && e.Start == "" {
		return e, fmt.Errorf("%s: nothing is expected", text)
	}
	return e, nil
}

// span is a range of days, the last one not included.
type span struct{ from, until string }

func (s span) has(day string) bool { return s.from <= day && day < s.until }

// period reads 2025-09, 2025-Q3, 2025 or 2025-07-15..2025-08-16, whose end is
// not included.
func period(text string) (span, error) {
	if from, until, ok := strings.Cut(text, ".."); ok {
		return span{from, until}, nil
	}
	months, layout, start := 1, "2006-01", text
	if year, quarter, ok := strings.Cut(text, "-Q"); ok && len(quarter) == 1 {
		months, start = 3, fmt.Sprintf("%s-%02d", year, 3*int(quarter[0]-'0')-2)
	} else if len(text) == len("2006") {
		months, layout = 12, "2006"
	}
	first, err := time.Parse(layout, start)
	if err != nil {
		return span{}, fmt.Errorf("period %q: %w", text, err)
	}
	return span{first.Format(time.DateOnly), first.AddDate(0, months, 0).Format(time.DateOnly)}, nil
}

// units is how many days, weeks or months a period has.
func (s span) units(per string) (int64, error) {
	from, err := time.Parse(time.DateOnly, s.from)
	if err != nil {
		return 0, err
	}
	n := int64(0)
	for at := from; at.Format(time.DateOnly) < s.until; n++ {
		switch per {
		case "month":
			at = at.AddDate(0, 1, 0)
		case "week":
			at = at.AddDate(0, 0, 7)
		default:
			at = at.AddDate(0, 0, 1)
		}
	}
	return n, nil
}

// name is how answers call a counterparty: by an alias of two to five capitals
// where it has one.
func (b *Book) name(id string) string {
	for _, c := range b.Counterparties {
		if c.ID != id {
			continue
		}
		for _, alias := range c.Aliases {
			if len(alias) >= 2 && len(alias) <= 5 && strings.Trim(alias, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
				return "`" + alias + "`"
			}
		}
		return "`" + c.Name + "`"
	}
	return "`" + id + "`"
}
