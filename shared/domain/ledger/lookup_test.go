package ledger_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/ledger"
)

func paid(name, date, currency, direction, status string) *ledger.Transaction {
	x := transaction()
	x.Meta, x.TransactionDate, x.Currency, x.Direction, x.Status = meta(name), date, currency, direction, status
	x.Amount, x.Allocations, x.PostedDate = "100.00", nil, nil
	if currency == "JPY" {
		x.Amount = "100"
	}
	return x
}

func TestMonths(t *testing.T) {
	b := newBook(t)
	euros := account()
	euros.Meta, euros.Currency = meta("acct_2"), "EUR"
	gone := paid("tx_6", "2024-02-01", "USD", "outflow", "posted")
	b.write(t, ledger.Written{New: 8}, account(), euros,
		paid("tx_1", "2025-09-15", "USD", "outflow", "posted"),
		paid("tx_2", "2025-09-30", "EUR", "inflow", "cleared"),
		paid("tx_3", "2025-03-01", "EUR", "outflow", "posted"),
		paid("tx_4", "2025-05-01", "USD", "outflow", "pending"),  // has not moved
		paid("tx_5", "2025-06-01", "USD", "transfer", "cleared"), // came from nobody
		gone)
	gone.Status = "reversed"
	b.write(t, ledger.Written{Changed: 1}, gone)
	got, err := b.reader.Months(t.Context(), b.tenant)
	noError(t, err)
	equal(t, "months", fmt.Sprint(got), "[2025-09 2025-03]")

	got, err = newBook(t).reader.Months(t.Context(), newBook(t).tenant)
	noError(t, err)
	equal(t, "months of an empty ledger", len(got), 0)
}

func numbered(name, number, issued string) *ledger.Invoice {
	i := invoice()
	i.Meta, i.InvoiceNumber, i.IssueDate = meta(name), number, issued
	return i
}

func TestInvoiceNumbers(t *testing.T) {
	b := newBook(t)
	b.write(t, ledger.Written{New: 4},
		numbered("inv_1", "INV-2025-001", "2025-01-01"), numbered("inv_2", "INV-2025-002", "2025-02-01"),
		numbered("inv_3", "SAK-7", "2025-03-01"), numbered("inv_4", "sak-7", "2025-04-01"))
	for _, c := range []struct {
		prefix string
		limit  int
		want   string
	}{
		{"", 10, "[sak-7 SAK-7 INV-2025-002 INV-2025-001]"}, // the newest first
		{"inv-", 10, "[INV-2025-002 INV-2025-001]"},
		{"INV-2025-001", 10, "[INV-2025-001]"},
		{"", 1, "[sak-7 SAK-7]"}, // one more says that there are more
		{"#", 10, "[]"},
	} {
		got, err := b.reader.InvoiceNumbers(t.Context(), b.tenant, c.prefix, c.limit)
		noError(t, err)
		equal(t, "numbers after "+c.prefix, fmt.Sprint(got), c.want)
	}
	for number, want := range map[string]string{"inv-2025-001": "[inv_1]", "SAK-7": "[inv_3 inv_4]", "INV-2025": "[]", "": "[]"} {
		found, err := b.reader.InvoicesNumbered(t.Context(), b.tenant, number)
		noError(t, err)
		var names []string
		for _, i := range found {
			names = append(names, i.ID)
		}
		slices.Sort(names)
		equal(t, "invoices "+number, fmt.Sprint(names), want)
		foreign, err := b.reader.InvoicesNumbered(t.Context(), newBook(t).tenant, number)
		noError(t, err)
		equal(t, "another tenant's invoices "+number, len(foreign), 0)
	}
}

func TestOpen(t *testing.T) {
	b := newBook(t)
	owed := func(name, due, kind, direction, status string) *ledger.Obligation {
		o := obligation()
		o.Meta, o.DueDate, o.Type, o.Direction, o.Status = meta(name), due, kind, direction, status
		return o
	}
	b.write(t, ledger.Written{New: 8},
		owed("obl_late", "2025-08-01", "bill", "payable", "upcoming"), owed("obl_soon", "2025-10-02", "bill", "payable", "upcoming"),
		owed("obl_day", "2025-10-07", "subscription", "payable", "due"), owed("obl_after", "2025-10-08", "bill", "payable", "upcoming"),
		owed("obl_paid", "2025-10-01", "bill", "payable", "paid"), owed("obl_off", "2025-10-01", "bill", "payable", "cancelled"),
		owed("obl_no", "2025-10-01", "bill", "payable", "disputed"), owed("obl_ours", "2025-10-01", "invoice", "receivable", "upcoming"))
	for _, c := range []struct {
		direction, kind, until string
		limit                  int
		want                   string
	}{
		{"payable", "", "2025-10-07", 10, "[obl_late obl_soon obl_day]"},
		{"payable", "", "2025-10-07", 2, "[obl_late obl_soon]"}, // the most pressing stay
		{"payable", "", "2025-10-08", 10, "[obl_late obl_soon obl_day obl_after]"},
		{"payable", "subscription", "2025-10-31", 10, "[obl_day]"},
		{"receivable", "", "2025-10-31", 10, "[obl_ours]"},
		{"payable", "", "2025-07-31", 10, "[]"},
	} {
		got, err := b.reader.Open(t.Context(), b.tenant, c.direction, c.kind, c.until, c.limit)
		noError(t, err)
		var names []string
		for _, o := range got {
			names = append(names, o.ID)
		}
		equal(t, fmt.Sprintf("%+v", c), fmt.Sprint(names), c.want)
	}
}
