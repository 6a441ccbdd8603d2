package question

import (
	"context"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/money"
)

// divide is an amount by a whole number, rounded to the currency's decimals,
// half to even. Everything else here is exact.
func divide(a money.Amount, n int64) (money.Amount, error) {
	minor, ok := new(big.Int).SetString(a.Minor(), 10)
	if !ok || n <= 0 {
		return money.Amount{}, fmt.Errorf("divide %s by %d", a, n)
	}
	return money.FromMinor(rounded(minor, big.NewInt(n)).String(), a.Currency())
}

// rounded is a quotient, half to even. The divisor is above zero.
func rounded(a, n *big.Int) *big.Int {
	quotient, rest := new(big.Int).QuoRem(new(big.Int).Abs(a), n, new(big.Int))
	switch twice := rest.Lsh(rest, 1); twice.Cmp(n) {
	case 1:
		quotient.Add(quotient, big.NewInt(1))
	case 0:
		quotient.Add(quotient, new(big.Int).And(quotient, big.NewInt(1)))
	}
	if a.Sign() < 0 {
		quotient.Neg(quotient)
	}
	return quotient
}

// unitsIn is how many days, weeks or months an average is over. Months that are
// not over do not count, and neither do the days that make no whole week.
func unitsIn(p Period, by string) (Period, int64, error) {
	from, until, err := p.bounds()
	if err != nil {
		return p, 0, err
	}
	n := int64(until.Sub(from) / (24 * time.Hour))
	switch by {
	case ByWeek:
		n /= 7
		until = from.AddDate(0, 0, int(7*n))
	case ByMonth:
		n = 0
		for !addMonths(from, int(n)+1).After(until) {
			n++
		}
		until = addMonths(from, int(n))
	}
	if n == 0 {
		return p, 0, unanswered("%s has no whole %s to take an average over.", p.Label, by)
	}
	return period(from, until), n, nil
}

// average answers with a mean: of transactions, or of days, weeks or months.
func (x *execution) average(ctx context.Context) (string, error) {
	if err := x.place(ctx); err != nil {
		return "", err
	}
	p, err := x.since(ctx, *x.plan.Period)
	if err != nil {
		return "", err
	}
	by, n := x.plan.Grouping, int64(0)
	if by != "" {
		if p, n, err = unitsIn(p, by); err != nil {
			return "", err
		}
	}
	direction := x.plan.Filters.Direction
	what := noun(direction)
	var t tally
	if direction == "" {
		sums, err := x.nets(ctx, p)
		if err != nil {
			return "", err
		}
		t, what = sums.net, "net cash flow"
	} else if t, err = x.totals(ctx, direction, p); err != nil {
		return "", err
	}
	if t.count() == 0 {
		return x.nothing(ctx, what+x.scope(direction))
	}
	means, err := t.over(n)
	if err != nil {
		return "", err
	}
	if direction == "" {
		direction = "outflow"
	}
	if err := x.support(ctx, direction, p, t.count()); err != nil {
		return "", err
	}
	if by == "" {
		return fmt.Sprintf("The average %s transaction%s %s was %s, over %s.", x.plan.Filters.Direction, x.scope(direction), p.in(), means.spelled(), transactionsOf(t.count())), nil
	}
	return fmt.Sprintf("Average %s%s %s was %s a %s, over %s.", what, x.scope(direction), p.in(), means.spelled(), by, plural(int(n), by, by+"s")), nil
}

// over divides each amount by n, or by its own count where n is 0.
func (t tally) over(n int64) (tally, error) {
	out := tally{}
	for c, cell := range t {
		by := n
		if by == 0 {
			by = cell.count
		}
		if by == 0 {
			continue
		}
		mean, err := divide(cell.amount, by)
		if err != nil {
			return nil, err
		}
		cell.amount = mean
		out[c] = cell
	}
	return out, nil
}

// burned is what a month came to on average, by currency.
type burned struct {
	period       Period
	months       int64
	in, out, net tally
	raw          nets
}

func (x *execution) burned(ctx context.Context) (burned, error) {
	var b burned
	var err error
	if b.period, b.months, err = unitsIn(*x.plan.Period, ByMonth); err != nil {
		return b, err
	}
	if b.raw, err = x.nets(ctx, b.period); err != nil {
		return b, err
	}
	for into, t := range map[*tally]tally{&b.in: b.raw.in, &b.out: b.raw.out, &b.net: b.raw.net} {
		if *into, err = t.over(b.months); err != nil {
			return b, err
		}
	}
	return b, nil
}

// say is one currency's burn. What comes in beyond what goes out is none.
func (b burned) say(c money.Currency) string {
	net := b.net.of(c)
	flows := fmt.Sprintf("%s came in and %s went out a month", spell(b.in.of(c)), spell(b.out.of(c)))
	if net.Sign() >= 0 {
		return fmt.Sprintf("%s: no net burn, %s more came in than went out (%s)", c, spell(net), flows)
	}
	return fmt.Sprintf("%s: a net burn of %s a month (%s)", c, spell(net.Neg()), flows)
}

// burn answers how much more goes out than comes in.
func (x *execution) burn(ctx context.Context) (string, error) {
	b, err := x.burned(ctx)
	if err != nil {
		return "", err
	}
	if b.raw.net.count() == 0 {
		return x.nothing(ctx, "inflow or outflow")
	}
	var parts []string
	for _, c := range b.net.currencies() {
		parts = append(parts, b.say(c))
	}
	if err := x.support(ctx, "outflow", b.period, b.raw.out.count()); err != nil {
		return "", err
	}
	return fmt.Sprintf("Burn is outflow less inflow, on average over %s, %s. %s.", plural(int(b.months), "complete month", "complete months"), b.period.in(), strings.Join(parts, "; ")), nil
}

// runway answers how long the cash lasts at the burn.
func (x *execution) runway(ctx context.Context) (string, error) {
	b, err := x.burned(ctx)
	if err != nil {
		return "", err
	}
	held, notes, err := x.cash(ctx)
	if err != nil {
		return "", err
	}
	var parts []string
	for _, c := range held.currencies() {
		cash := held.of(c)
		months, falling := lasts(cash, b.raw.net.of(c), b.months)
		if !falling {
			parts = append(parts, fmt.Sprintf("%s: cash of %s is not running out, %s more comes in than goes out a month", c, spell(cash), spell(b.net.of(c))))
			continue
		}
		parts = append(parts, fmt.Sprintf("%s: cash of %s lasts %s months at a net burn of %s a month", c, spell(cash), months, spell(b.net.of(c).Neg())))
	}
	text := fmt.Sprintf("Runway as of %s, at the average of %s. %s.", x.day, b.period.Label, strings.Join(parts, "; "))
	return strings.Join(append([]string{text}, notes...), " "), nil
}

// lasts is how many months cash lasts that shrinks by a sum in so many months,
// cut after one decimal, and false where it does not shrink.
func lasts(cash, net money.Amount, in int64) (string, bool) {
	if net.Sign() >= 0 {
		return "", false
	}
	have, ok := new(big.Int).SetString(cash.Minor(), 10)
	burn, okay := new(big.Int).SetString(net.Neg().Minor(), 10)
	if !ok || !okay {
		return "", false
	}
	tenths := new(big.Int).Quo(have.Mul(have, big.NewInt(10*in)), burn)
	whole, rest := new(big.Int).QuoRem(tenths, big.NewInt(10), new(big.Int))
	return whole.String() + "." + rest.String(), true
}
