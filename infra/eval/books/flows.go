package books

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
)

// moved says whether a transaction has moved money.
func (x Transaction) moved() bool { return x.Status == "posted" || x.Status == "cleared" }

// fits says whether a transaction has what the arguments name.
func (x Transaction) fits(a Args, s span) bool {
	for have, want := range map[string]string{x.Direction: a["direction"], x.Category: a["category"], x.Counterparty: a["counterparty"], x.Account: a["account"], x.Currency: a["currency"], x.Status: a["status"]} {
		if want != "" && have != want {
			return false
		}
	}
	if over := a["over"]; over != "" && decimal(x.Amount).Cmp(decimal(over)) <= 0 {
		return false
	}
	return s.has(x.Date)
}

// those are the transactions that moved money and fit.
func (b *Book) those(a Args) ([]Transaction, span, error) {
	s, err := period(a["period"])
	if err != nil {
		return nil, s, err
	}
	var list []Transaction
	for _, x := range b.Transactions {
		if x.moved() && x.fits(a, s) {
			list = append(list, x)
		}
	}
	return list, s, nil
}

func total(list []Transaction) sums {
	all := sums{}
	for _, x := range list {
		all.add(x.Amount, x.Currency)
	}
	return all
}

func with(a Args, name, value string) Args {
	out := Args{name: value}
	for k, v := range a {
		if k != name {
			out[k] = v
		}
	}
	return out
}

func (b *Book) flow(a Args) (Expectation, error) {
	list, _, err := b.those(a)
	return Expectation{Lead: total(list).spelled()}, err
}

// nets are inflow, outflow and what is left, by currency.
func (b *Book) nets(a Args) (in, out, net sums, err error) {
	inflow, _, err := b.those(with(a, "direction", "inflow"))
	if err != nil {
		return nil, nil, nil, err
	}
	outflow, _, err := b.those(with(a, "direction", "outflow"))
	in, out, net = total(inflow), total(outflow), sums{}
	for _, x := range inflow {
		net.add(x.Amount, x.Currency)
	}
	for _, x := range outflow {
		net.add("-"+x.Amount, x.Currency)
	}
	return in, out, net, err
}

func (b *Book) net(a Args) (Expectation, error) {
	in, out, net, err := b.nets(a)
	return Expectation{Lead: net.spelled(), Must: slices.Concat(in.spelled(), out.spelled())}, err
}

func divided(s sums, n int64) sums {
	out := sums{}
	for c, value := range s {
		out[c] = new(big.Rat).Quo(value, new(big.Rat).SetInt64(n))
	}
	return out
}

func (b *Book) average(a Args) (Expectation, error) {
	if a["per"] == "transaction" {
		list, _, err := b.those(a)
		counts, all := map[string]int64{}, total(list)
		for _, x := range list {
			counts[x.Currency]++
		}
		for c := range all {
			all[c].Quo(all[c], new(big.Rat).SetInt64(counts[c]))
		}
		return Expectation{Lead: all.spelled()}, err
	}
	s, err := period(a["period"])
	if err != nil {
		return Expectation{}, err
	}
	n, err := s.units(a["per"])
	if err != nil {
		return Expectation{}, err
	}
	if a["direction"] == "net" {
		_, _, net, err := b.nets(a)
		return Expectation{Lead: divided(net, n).spelled()}, err
	}
	list, _, err := b.those(a)
	return Expectation{Lead: divided(total(list), n).spelled()}, err
}

// burn is what goes out a month beyond what comes in. A currency in which more
// comes in has none.
func (b *Book) burn(a Args) (Expectation, error) {
	in, out, net, err := b.nets(a)
	if err != nil {
		return Expectation{}, err
	}
	e := Expectation{Must: slices.Concat(divided(in, 3).spelled(), divided(out, 3).spelled())}
	for c, value := range divided(net, 3) {
		e.Must = append(e.Must, Spell(new(big.Rat).Abs(value), c))
	}
	return e, nil
}

// runway is how many months the cash lasts at that rate, cut after one decimal.
func (b *Book) runway(a Args) (Expectation, error) {
	_, _, net, err := b.nets(a)
	if err != nil {
		return Expectation{}, err
	}
	var e Expectation
	for c, cash := range b.available("") {
		e.Must = append(e.Must, Spell(cash, c))
		burn := new(big.Rat).Neg(net[c])
		if net[c] == nil || burn.Sign() <= 0 {
			continue
		}
		months := new(big.Rat).Quo(new(big.Rat).Mul(cash, big.NewRat(30, 1)), burn) // tenths of months: three months of burn
		tenths := new(big.Int).Quo(months.Num(), months.Denom())
		e.Must = append(e.Must, fmt.Sprintf("%s.%s months", new(big.Int).Quo(tenths, big.NewInt(10)), new(big.Int).Rem(tenths, big.NewInt(10))))
	}
	return e, nil
}

// example is the question of the product's overview.
func (b *Book) example(Args) (Expectation, error) {
	for _, x := range b.Transactions {
		if x.ID == "tx_4127" {
			amount := Spell(decimal(x.Amount), x.Currency)
			return Expectation{Start: "`AWS` at " + amount + " across 3 environments", Lead: []string{amount}}, nil
		}
	}
	return Expectation{}, fmt.Errorf("no tx_4127")
}

// groups sums transactions by category or counterparty.
func (b *Book) groups(list []Transaction, what string) by {
	g := by{}
	for _, x := range list {
		value := x.Category
		if what == "counterparty" {
			value = x.Counterparty
		}
		g.add(value, x.Amount, x.Currency)
	}
	return g
}

func (b *Book) label(what, value string) string {
	if what == "counterparty" {
		return b.name(value)
	}
	return "`" + value + "`"
}

func (b *Book) top(a Args) (Expectation, error) {
	list, _, err := b.those(a)
	if err != nil {
		return Expectation{}, err
	}
	n, err := strconv.Atoi(a["n"])
	if err != nil {
		return Expectation{}, err
	}
	g := b.groups(list, a["by"])
	var e Expectation
	for _, currency := range g.currencies() {
		ranked := g.ranked(currency)
		for _, value := range ranked[:min(n, len(ranked))] {
			e.Must = append(e.Must, b.label(a["by"], value)+" at "+Spell(g[value][currency], currency))
		}
	}
	if a["by"] == "category" && n == 1 {
		// A category may be called by the counterparty that makes it up.
		for i, said := range e.Must {
			_, amount, _ := cutLast(said, " at ")
			e.Must[i] = " at " + amount
		}
	}
	return e, nil
}

func cutLast(text, sep string) (before, after string, found bool) {
	for at := len(text) - len(sep); at >= 0; at-- {
		if text[at:at+len(sep)] == sep {
			return text[:at], text[at+len(sep):], true
		}
	}
	return text, "", false
}

// largest are the largest single transactions of the currency that has the most
// of them.
func (b *Book) largest(a Args) (Expectation, error) {
	list, _, err := b.those(a)
	if err != nil {
		return Expectation{}, err
	}
	n, err := strconv.Atoi(a["n"])
	if err != nil {
		return Expectation{}, err
	}
	main := usual(list)
	list = slices.DeleteFunc(list, func(x Transaction) bool { return x.Currency != main })
	slices.SortFunc(list, func(x, y Transaction) int {
		return cmp.Or(decimal(y.Amount).Cmp(decimal(x.Amount)), cmp.Compare(x.ID, y.ID))
	})
	e := Expectation{Ordered: true}
	for _, x := range list[:min(n, len(list))] {
		e.Must = append(e.Must, Spell(decimal(x.Amount), x.Currency), "`"+x.ID+"`")
	}
	e.Lead = []string{Spell(decimal(list[0].Amount), main)}
	return e, nil
}

// usual is the currency with the most transactions.
func usual(list []Transaction) string {
	n, most := map[string]int{}, ""
	for _, x := range list {
		if n[x.Currency]++; n[x.Currency] > n[most] {
			most = x.Currency
		}
	}
	return most
}

func (b *Book) compare(a Args) (Expectation, error) {
	now, _, err := b.those(a)
	if err != nil {
		return Expectation{}, err
	}
	then, _, err := b.those(with(a, "period", a["against"]))
	if err != nil {
		return Expectation{}, err
	}
	e := Expectation{Lead: total(now).spelled(), Must: total(then).spelled()}
	for c, difference := range change(total(now), total(then)) {
		switch difference.Sign() {
		case 1:
			e.Must = append(e.Must, "up "+Spell(difference, c))
		case -1:
			e.Must = append(e.Must, "down "+Spell(new(big.Rat).Neg(difference), c))
		}
	}
	return e, nil
}

func change(now, then sums) sums {
	out := sums{}
	for c, value := range now {
		out[c] = new(big.Rat).Set(value)
	}
	for c, value := range then {
		if out[c] == nil {
			out[c] = new(big.Rat)
		}
		out[c].Sub(out[c], value)
	}
	return out
}

// movers are the two categories that changed most in the usual currency.
func (b *Book) movers(a Args) (Expectation, error) {
	e, err := b.compare(a)
	if err != nil {
		return e, err
	}
	now, _, err := b.those(a)
	if err != nil {
		return e, err
	}
	then, _, err := b.those(with(a, "period", a["against"]))
	if err != nil {
		return e, err
	}
	main, g, was := usual(now), b.groups(now, "category"), b.groups(then, "category")
	differences := by{}
	for _, groups := range []by{g, was} {
		for value := range groups {
			d := change(g[value], was[value])[main]
			if d != nil && differences[value] == nil {
				differences[value] = sums{main: d}
			}
		}
	}
	ranked := differences.ranked(main)
	slices.SortStableFunc(ranked, func(x, y string) int {
		return new(big.Rat).Abs(differences[y][main]).Cmp(new(big.Rat).Abs(differences[x][main]))
	})
	for _, value := range ranked[:2] {
		word, d := "up", differences[value][main]
		if d.Sign() < 0 {
			word = "down"
		}
		e.Must = append(e.Must, fmt.Sprintf("`%s` %s %s", value, word, Spell(new(big.Rat).Abs(d), main)))
	}
	return e, nil
}
