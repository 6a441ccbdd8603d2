package question

import (
	"slices"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/money"
)

// spell writes an amount for people: dollars as $61,404.12, everything else with
// its code behind it, so that no two currencies can be taken for one.
func spell(a money.Amount) string {
	text, negative := strings.CutPrefix(a.String(), "-")
	whole, fraction, point := strings.Cut(text, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if point {
		whole += "." + fraction
	}
	sign := ""
	if negative {
		sign = "-"
	}
	if a.Currency().String() == "USD" {
		return sign + "$" + whole
	}
	return sign + whole + " " + a.Currency().String()
}

func spellAll(amounts []money.Amount) string {
	list := make([]string, len(amounts))
	for i, a := range amounts {
		list[i] = spell(a)
	}
	return enumerate(list)
}

// enumerate writes "a, b and c".
func enumerate(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}

// compareLarge orders amounts of one currency, the largest first; between two
// currencies there is no order.
func compareLarge(a, b money.Amount) int {
	if order, err := b.Cmp(a); err == nil {
		return order
	}
	return 0
}

// byCurrency puts what has amounts in order: the currencies with the most items
// first, then by code; in each the largest amounts first.
func byCurrency[T any](items []T, of func(T) money.Amount) {
	n := map[money.Currency]int{}
	for _, item := range items {
		n[of(item).Currency()]++
	}
	slices.SortStableFunc(items, func(x, y T) int {
		a, b := of(x), of(y)
		if a.Currency() != b.Currency() {
			if more := n[b.Currency()] - n[a.Currency()]; more != 0 {
				return more
			}
			return strings.Compare(a.Currency().String(), b.Currency().String())
		}
		return compareLarge(a, b)
	})
}
