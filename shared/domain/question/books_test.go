package question_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/robotmoney/mcp/infra/local/demo"
	"github.com/robotmoney/mcp/shared/domain/ledger"
)

// books computes what answers must say out of the demo's rows, without a plan, a
// rollup, an index or the package's own arithmetic.
type books struct{ demo.Rows }

func booksOf(tenant string) books { return books{demo.Data(tenant)} }

// sum is what a group comes to.
type sum struct {
	name  string
	value *big.Rat
}

var decimals = map[string]int{"USD": 2, "EUR": 2, "GBP": 2, "JPY": 0, "USDC": 6}

func rat(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic("no decimal: " + text)
	}
	return r
}

// spelled is how people read an amount.
func spelled(value *big.Rat, currency string) string {
	text, negative := strings.CutPrefix(value.FloatString(decimals[currency]), "-")
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
	if negative {
		text = "-" + text
	}
	return text
}

func money(amount, currency string) string { return spelled(rat(amount), currency) }

// cash is the total of each currency and the accounts it lies on, as of the
// close or of an earlier month's end.
func (b books) cash(currencies ...string) []string {
	totals, said := map[string]*big.Rat{}, []string{}
	for _, a := range b.Accounts {
		if a.Status != "active" || a.AccountType != "bank_checking" && a.AccountType != "bank_savings" || len(currencies) > 0 && !slices.Contains(currencies, a.Currency) {
			continue
		}
		if totals[a.Currency] == nil {
			totals[a.Currency] = new(big.Rat)
		}
		totals[a.Currency].Add(totals[a.Currency], rat(*a.AvailableBalance))
		said = append(said, a.ID, money(*a.AvailableBalance, a.Currency))
	}
	for c, total := range totals {
		said = append(said, spelled(total, c))
	}
	return said
}

// account is what is said of one account.
func (b books) account(id string) []string {
	for _, a := range b.Accounts {
		if a.ID == id {
			return []string{id, money(*a.CurrentBalance, a.Currency)}
		}
	}
	panic("no account " + id)
}

// last are the newest n transactions that fit, up to a day.
func (b books) last(n int, until string, fits func(*ledger.Transaction) bool) []string {
	var list []*ledger.Transaction
	for _, x := range b.Rows.Transactions {
		if x.TransactionDate <= until && (fits == nil || fits(x)) {
			list = append(list, x)
		}
	}
	slices.SortFunc(list, func(x, y *ledger.Transaction) int {
		return cmp.Or(cmp.Compare(y.TransactionDate, x.TransactionDate), cmp.Compare(y.ID, x.ID))
	})
	var said []string
	for i, x := range list[:min(n, len(list))] {
		said = append(said, fmt.Sprintf("\n%d. %s %s %s", i+1, x.TransactionDate, x.Direction, money(x.Amount, x.Currency)), "`"+x.ID+"`")
	}
	return said
}

func with(party string) func(*ledger.Transaction) bool {
	return func(x *ledger.Transaction) bool { return x.CounterpartyID != nil && *x.CounterpartyID == party }
}

func toward(direction string) func(*ledger.Transaction) bool {
	return func(x *ledger.Transaction) bool { return x.Direction == direction }
}

func on(account string) func(*ledger.Transaction) bool {
	return func(x *ledger.Transaction) bool { return x.AccountID == account }
}

func all(tests ...func(*ledger.Transaction) bool) func(*ledger.Transaction) bool {
	return func(x *ledger.Transaction) bool {
		return !slices.ContainsFunc(tests, func(test func(*ledger.Transaction) bool) bool { return !test(x) })
	}
}

// due are the open bills of a range of days, both ends included, with totals.
func (b books) due(from, to string, fits func(*ledger.Obligation) bool) []string {
	totals, said, n := map[string]*big.Rat{}, []string{}, 0
	for _, o := range b.Obligations {
		if o.Direction != "payable" || o.Status != "upcoming" || o.DueDate < from || o.DueDate > to || fits != nil && !fits(o) {
			continue
		}
		if totals[o.Currency] == nil {
			totals[o.Currency] = new(big.Rat)
		}
		n++
		totals[o.Currency].Add(totals[o.Currency], rat(o.AmountDue))
		if n <= 25 {
			said = append(said, fmt.Sprintf("- %s %s", o.DueDate, money(o.AmountDue, o.Currency)), o.ID)
		}
	}
	for c, total := range totals {
		said = append(said, spelled(total, c))
	}
	if n != 1 {
		return append(said, fmt.Sprintf("%d bills are", n))
	}
	return append(said, "1 bill is")
}

// invoice is how an invoice stands at the close, with its payments.
func (b books) invoice(number string) []string {
	for _, i := range b.Invoices {
		if i.InvoiceNumber != number {
			continue
		}
		status := i.Status
		if (status == "sent" || status == "partial") && i.DueDate < "2025-09-30" {
			status = "overdue"
		}
		open := new(big.Rat).Sub(rat(i.AmountDue), rat(i.AmountPaid))
		said := []string{" is " + status + " ", money(i.AmountPaid, i.Currency) + " of " + money(i.AmountDue, i.Currency) + " is paid", spelled(open, i.Currency) + " is open", "due on " + i.DueDate}
		for _, x := range b.Rows.Transactions {
			if slices.Contains(i.LinkedTransactionIDs, x.ID) {
				said = append(said, "- "+x.TransactionDate+" "+money(x.Amount, x.Currency), x.ID)
			}
		}
		return said
	}
	panic("no invoice " + number)
}

// spent sums outflow that was posted or cleared, by group and currency, in days
// from from to to, both included; each currency's groups are the largest first.
func (b books) spent(from, to string, of func(*ledger.Transaction) string) map[string][]sum {
	cells := map[string]map[string]*sum{}
	for _, x := range b.Rows.Transactions {
		if x.Direction != "outflow" || x.Status != "posted" && x.Status != "cleared" || x.TransactionDate < from || x.TransactionDate > to {
			continue
		}
		if cells[x.Currency] == nil {
			cells[x.Currency] = map[string]*sum{}
		}
		g := of(x)
		if cells[x.Currency][g] == nil {
			cells[x.Currency][g] = &sum{name: g, value: new(big.Rat)}
		}
		cells[x.Currency][g].value.Add(cells[x.Currency][g].value, rat(x.Amount))
	}
	ranked := map[string][]sum{}
	for c, groups := range cells {
		for _, g := range groups {
			ranked[c] = append(ranked[c], *g)
		}
		slices.SortFunc(ranked[c], func(a, b sum) int { return b.value.Cmp(a.value) })
	}
	return ranked
}

// top is what is said of the n largest groups of every currency.
func (b books) top(n int, from, to string, of func(*ledger.Transaction) string) []string {
	var said []string
	ranked := b.spent(from, to, of)
	for _, c := range slices.Sorted(maps.Keys(ranked)) {
		for _, g := range ranked[c][:min(n, len(ranked[c]))] {
			said = append(said, " at "+spelled(g.value, c))
			if !strings.HasPrefix(g.name, "cp_") {
				said = append(said, "`"+g.name+"`")
			}
		}
	}
	return said
}

func category(x *ledger.Transaction) string { return *x.Category }

func party(x *ledger.Transaction) string { return cmp.Or(deref(x.CounterpartyID), "-") }

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// day moves a date.
func day(date string, by int) string {
	at, err := time.Parse(time.DateOnly, date)
	if err != nil {
		panic(err)
	}
	return at.AddDate(0, 0, by).Format(time.DateOnly)
}
