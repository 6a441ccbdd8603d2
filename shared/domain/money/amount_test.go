package money_test

import (
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/money"
)

func TestAmountIsComparable(t *testing.T) {
	seen := map[money.Amount]string{}
	seen[amount(t, "100", "USD")] = "100"
	if _, ok := seen[amount(t, "100.00", "USD")]; !ok {
		t.Error("100 and 100.00 USD are two keys")
	}
	if _, ok := seen[amount(t, "100", "EUR")]; ok {
		t.Error("100 USD and 100 EUR are one key")
	}
	equal(t, "zero", money.Zero(money.MustParse("USD")), amount(t, "-0.00", "USD"))
	equal(t, "negated zero", money.Zero(money.MustParse("USD")).Neg(), amount(t, "0", "USD"))
}

func TestTwoCurrencies(t *testing.T) {
	dollars, yen := amount(t, "1", "USD"), amount(t, "1", "JPY")
	_, err := dollars.Add(yen)
	fails(t, err, money.ErrTwoCurrencies)
	says(t, err, "add 1.00 USD and 1 JPY: amounts of two currencies")
	_, err = dollars.Sub(yen)
	fails(t, err, money.ErrTwoCurrencies)
	says(t, err, "subtract 1 JPY from 1.00 USD: amounts of two currencies")
	_, err = dollars.Cmp(yen)
	fails(t, err, money.ErrTwoCurrencies)
	says(t, err, "compare 1.00 USD with 1 JPY: amounts of two currencies")

	// The same exponent makes no two currencies one.
	for _, other := range []money.Amount{amount(t, "1", "EUR"), amount(t, "0", "EUR"), amount(t, "1", "USDC")} {
		_, err = dollars.Add(other)
		fails(t, err, money.ErrTwoCurrencies)
		_, err = dollars.Sub(other)
		fails(t, err, money.ErrTwoCurrencies)
		_, err = other.Cmp(dollars)
		fails(t, err, money.ErrTwoCurrencies)
	}
}

// TestOverflow stands on the last value that fits, on both sides of zero.
func TestOverflow(t *testing.T) {
	top, unit := amount(t, nines[:36]+".99", "USD"), amount(t, "0.01", "USD")
	_, err := top.Add(unit)
	fails(t, err, money.ErrOverflow)
	_, err = top.Add(top)
	fails(t, err, money.ErrOverflow)
	_, err = top.Neg().Sub(unit)
	fails(t, err, money.ErrOverflow)
	_, err = top.Sub(top.Neg())
	fails(t, err, money.ErrOverflow)

	below, err := top.Sub(unit)
	noError(t, err)
	again, err := below.Add(unit)
	noError(t, err)
	equal(t, "top again", again, top)
	nothing, err := top.Sub(top)
	noError(t, err)
	equal(t, "top less top", nothing, money.Zero(top.Currency()))
	order, err := top.Cmp(top.Neg())
	noError(t, err)
	equal(t, "top against its negative", order, 1)
}

func TestNoCurrency(t *testing.T) {
	var none money.Amount
	one := amount(t, "1", "USD")
	for name, do := range map[string]func() error{
		"none + none": func() error { _, err := none.Add(none); return err },
		"none + one":  func() error { _, err := none.Add(one); return err },
		"one - none":  func() error { _, err := one.Sub(none); return err },
		"none ? none": func() error { _, err := none.Cmp(none); return err },
		"sum":         func() error { _, err := money.Sum(one, none); return err },
		"minor":       func() error { _, err := money.FromMinor("1", money.Currency{}); return err },
	} {
		if err := do(); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	if _, err := money.ParseSigned(none.String(), money.MustParse("USD")); err == nil {
		t.Errorf("%q can be read as money", none.String())
	}
}

func TestAmountIsNotJSON(t *testing.T) {
	totals, err := money.Sum(amount(t, "1", "USD"))
	noError(t, err)
	for _, v := range []any{amount(t, "1", "USD"), totals, map[string]any{"amount": money.Amount{}}} {
		if text, err := json.Marshal(v); err == nil {
			t.Errorf("%T was written as %s", v, text)
		}
	}
}

// laws checks every operation on two amounts against exact rational arithmetic.
func laws(t *testing.T, a, b money.Amount) {
	t.Helper()
	x, y := exact(t, a.String()), exact(t, b.String())
	c := a.Currency()

	order, err := a.Cmp(b)
	noError(t, err)
	equal(t, "Cmp", order, x.Cmp(y))
	equal(t, "==", a == b, x.Cmp(y) == 0)
	equal(t, "Sign", a.Sign(), x.Sign())
	equal(t, "Neg", a.Neg().String(), new(big.Rat).Neg(x).FloatString(c.Exponent()))
	equal(t, "Neg twice", a.Neg().Neg(), a)

	sum, err := a.Add(b)
	agrees(t, "Add", c, sum, err, new(big.Rat).Add(x, y))
	turned, turnedErr := b.Add(a)
	equal(t, "b + a", turned, sum)
	equal(t, "b + a fails", turnedErr != nil, err != nil)
	difference, err := a.Sub(b)
	agrees(t, "Sub", c, difference, err, new(big.Rat).Sub(x, y))
}

// agrees compares a result with the exact one. It must fail when, and only when,
// the exact one is beyond 38 nines of the smallest unit.
func agrees(t *testing.T, what string, c money.Currency, got money.Amount, err error, want *big.Rat) {
	t.Helper()
	unit := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.Exponent())), nil))
	minor := new(big.Rat).Mul(want, unit)
	if new(big.Rat).Abs(minor).Cmp(exact(t, nines)) > 0 {
		fails(t, err, money.ErrOverflow)
		return
	}
	noError(t, err)
	equal(t, what, got.String(), want.FloatString(c.Exponent()))
	equal(t, what+" in minor units", got.Minor(), minor.FloatString(0))
}

// random is an amount of a random length, so that carries and signs all happen.
func random(t *testing.T, r *rand.Rand, c money.Currency) money.Amount {
	t.Helper()
	digits := []byte{'1' + byte(r.IntN(9))}
	for range r.IntN(38) {
		digits = append(digits, "0123456789999000"[r.IntN(16)])
	}
	a, err := money.FromMinor(string(digits), c)
	noError(t, err)
	if r.IntN(2) == 0 {
		return a.Neg()
	}
	return a
}

func TestLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(4217, 8785))
	for range 5_000 {
		c := currencies[r.IntN(len(currencies))]
		a := random(t, r, c)
		laws(t, a, random(t, r, c))
		laws(t, a, a)
		laws(t, a, a.Neg())
		laws(t, a, money.Zero(c))
	}
}

func FuzzLaws(f *testing.F) {
	f.Add("0", "0", uint8(0))
	f.Add("-18446744073709551616", "18446744073709551615", uint8(1))
	f.Add(nines, "1", uint8(2))
	f.Add("-"+nines, "-"+nines, uint8(3))
	f.Fuzz(func(t *testing.T, first, second string, pick uint8) {
		c := currencies[int(pick)%len(currencies)]
		a, err := money.FromMinor(first, c)
		if err != nil {
			return
		}
		if b, err := money.FromMinor(second, c); err == nil {
			laws(t, a, b)
		}
	})
}
