package books

import (
	"cmp"
	"math/big"
	"slices"
	"strings"
)

// sums are totals by currency.
type sums map[string]*big.Rat

func (s sums) add(amount, currency string) {
	if s[currency] == nil {
		s[currency] = new(big.Rat)
	}
	s[currency].Add(s[currency], decimal(amount))
}

func decimal(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic("no decimal: " + text)
	}
	return r
}

// spelled are the totals as people read them.
func (s sums) spelled() []string {
	var list []string
	for _, c := range s.currencies() {
		list = append(list, Spell(s[c], c))
	}
	return list
}

func (s sums) currencies() []string {
	var list []string
	for c := range s {
		list = append(list, c)
	}
	slices.Sort(list)
	return list
}

var decimals = map[string]int{"USD": 2, "EUR": 2, "GBP": 2, "JPY": 0, "USDC": 6}

// Spell writes an amount as answers do: $1,234.50, and every other currency with
// its code behind the number. It is rounded to the currency's decimals, half to
// even.
func Spell(value *big.Rat, currency string) string {
	text := fixed(new(big.Rat).Abs(value), decimals[currency])
	whole, fraction, point := strings.Cut(text, ".")
	var groups []string
	for ; len(whole) > 3; whole = whole[:len(whole)-3] {
		groups = append([]string{whole[len(whole)-3:]}, groups...)
	}
	text = strings.Join(append([]string{whole}, groups...), ",")
	if point {
		text += "." + fraction
	}
	if currency == "USD" {
		text = "$" + text
	} else {
		text += " " + currency
	}
	if value.Sign() < 0 {
		text = "-" + text
	}
	return text
}

// fixed rounds half to even, where big.Rat's own writing rounds half up.
func fixed(value *big.Rat, places int) string {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)
	scaled := new(big.Rat).Mul(value, new(big.Rat).SetInt(scale))
	quotient, rest := new(big.Int).QuoRem(scaled.Num(), scaled.Denom(), new(big.Int))
	switch twice := new(big.Int).Lsh(rest, 1); twice.Cmp(scaled.Denom()) {
	case 1:
		quotient.Add(quotient, big.NewInt(1))
	case 0:
		quotient.Add(quotient, new(big.Int).And(quotient, big.NewInt(1)))
	}
	return new(big.Rat).SetFrac(quotient, scale).FloatString(places)
}

// by sums what is given by a value and a currency.
type by map[string]sums

func (g by) add(value, amount, currency string) {
	if g[value] == nil {
		g[value] = sums{}
	}
	g[value].add(amount, currency)
}

// ranked are the values of a currency, the largest sums first.
func (g by) ranked(currency string) []string {
	var list []string
	for value, s := range g {
		if s[currency] != nil {
			list = append(list, value)
		}
	}
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(g[b][currency].Cmp(g[a][currency]), cmp.Compare(a, b))
	})
	return list
}

func (g by) currencies() []string {
	all := sums{}
	for _, s := range g {
		for c := range s {
			all[c] = s[c]
		}
	}
	return all.currencies()
}
