package money_test

import (
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/money"
)

// listed writes totals in the order they are given in.
func listed(totals money.Totals) string {
	var parts []string
	for _, a := range totals.Amounts() {
		parts = append(parts, a.Currency().String()+" "+a.String())
	}
	return strings.Join(parts, ", ")
}

func TestSum(t *testing.T) {
	totals, err := money.Sum(
		amount(t, "1.10", "USD"), amount(t, "5", "JPY"), amount(t, "2.90", "USD"),
		amount(t, "0.000001", "USDC"), amount(t, "3", "EUR"), amount(t, "-3", "EUR"),
	)
	noError(t, err)
	equal(t, "totals", listed(totals), "EUR 0.00, JPY 5, USD 4.00, USDC 0.000001")
	equal(t, "of dollars", totals.Of(money.MustParse("USD")), amount(t, "4", "USD"))
	equal(t, "of francs", totals.Of(money.MustParse("CHF")), amount(t, "0", "CHF"))
	equal(t, "currencies after asking", len(totals.Amounts()), 4)
}

func TestNothingSummed(t *testing.T) {
	totals, err := money.Sum()
	noError(t, err)
	equal(t, "totals", listed(totals), "")
	equal(t, "of dollars", totals.Of(money.MustParse("USD")).String(), "0.00")
}

func TestTotalsOverflow(t *testing.T) {
	var totals money.Totals
	noError(t, totals.Add(amount(t, nines, "JPY")))
	fails(t, totals.Add(amount(t, "1", "JPY")), money.ErrOverflow)
	equal(t, "totals after the failure", listed(totals), "JPY "+nines)
	noError(t, totals.Add(amount(t, "1", "USD")))
	noError(t, totals.Add(amount(t, "-1", "JPY")))
	equal(t, "totals", listed(totals), "JPY "+nines[:37]+"8, USD 1.00")

	_, err := money.Sum(amount(t, nines, "JPY"), amount(t, "1", "JPY"))
	fails(t, err, money.ErrOverflow)
}
