package question_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/infra/local/demo"
	"github.com/robotmoney/mcp/shared/domain/ledger"
)

// wording is a question and what its answer must hold, as of the close of the
// books unless it says otherwise.
type wording struct {
	text, asOf string
	says       []string
}

// cashWordings, and the tables below, hold each family in the ways people word
// it. The numbers come from the demo's rows.
func cashWordings(b books) []wording {
	list := each(b.cash(), "What's our cash position?", "cash position", "How much cash do we have?", "What is our available cash?", "How much money do we have in the bank?",
		"Show me the cash balance by account", "What's our cash on hand right now?", "cash by account please", "Total cash?", "What is our liquidity?",
		"how much do we have", "Give me an overview of available funds", "What are our bank balances?", "HOW MUCH CASH DO WE HAVE AVAILABLE???")
	list = append(list, each(b.cash("EUR"), "cash in EUR", "How much cash do we have in euros?")...)
	list = append(list, each(b.cash("USD"), "What is our cash position in dollars?")...)
	list = append(list, each(b.account("acct_8231"), "what's on the operating account", "What is the balance of the Operating account?", "balance of acct_8231", "operating account balance",
		"How much do we have in the operating account?", "How much is on account 8231?")...)
	list = append(list, each(b.account("acct_6075"), "card balance", "What's the balance on the company card?", "company card", "How much is on the credit card?")...)
	list = append(list, each(b.account("acct_4410"), "How much is in savings?", "reserve account balance", "What's our savings balance")...)
	list = append(list, each(b.account("acct_9033"), "yen balance", "How much JPY do we have?", "What is on the Wayfare account?")...)
	list = append(list, each(b.account("acct_7702"), "How much USDC do we have?", "balance of the USDC wallet", "crypto wallet balance")...)
	list = append(list, each(b.account("acct_3958"), "What's the Euro account balance?", "Rheinbank balance")...)
	list = append(list, each(b.account("acct_2207"), "balance of the Former operating account")...)
	list = append(list, each(slices.Concat(b.account("acct_8231"), b.account("acct_9033"), b.account("acct_7702"), b.account("acct_6075")), "all account balances", "Show balances of all accounts")...)
	return list
}

func lastWordings(b books) []wording {
	const end = "2025-09-30"
	list := each(b.last(5, end, nil), "last 5 transactions", "Show me the five most recent transactions", "What are the latest 5 transactions?", "recent transactions", "List the 5 newest transactions", "send me the last 5 transactions")
	list = append(list, each(b.last(1, end, nil), "What was the last transaction?", "latest transaction")...)
	list = append(list, each(b.last(3, end, with("cp_aws")), "last 3 transactions with AWS", "the 3 latest AWS transactions", "last three transactions with Amazon Web Services", "last 3 transactions with cp_aws",
		"What were our last 3 payments to AWS?", "last 3 charges from aws inc")...)
	list = append(list, each(b.last(2, end, with("cp_perez_studio")), "last 2 transactions with Estudio Perez & Ibanez", "last 2 transactions with perez studio")...)
	list = append(list, each(b.last(4, end, with("cp_soren_olgaard")), "last 4 transactions with Søren Ølgaard", "last 4 payments to soren olgaard aps")...)
	list = append(list, each(b.last(10, end, toward("inflow")), "last 10 inflows transactions", "Last 10 incoming payments", "latest 10 deposits", "the last 10 payments received")...)
	list = append(list, each(b.last(7, end, toward("outflow")), "last 7 payments", "Show the last 7 outgoing transactions")...)
	list = append(list, each(b.last(4, end, toward("transfer")), "last 4 transfers")...)
	list = append(list, each(b.last(6, end, on("acct_8231")), "last 6 transactions on the operating account", "last 6 operating account transactions", "last 6 transactions of acct_8231")...)
	list = append(list, each(b.last(8, end, on("acct_6075")), "last 8 card transactions", "last 8 transactions on the company card")...)
	list = append(list, each(b.last(2, end, all(on("acct_3958"), toward("inflow"))), "last 2 inflow transactions on the euro account")...)
	list = append(list, each(b.last(3, end, func(x *ledger.Transaction) bool { return x.Status == "disputed" }), "last 3 disputed transactions", "the last 3 disputed transactions")...)
	list = append(list, each(b.last(1, end, with("cp_datadog")), "last payment to Datadog")...)
	list = append(list, each(b.last(5, "2025-08-31", func(x *ledger.Transaction) bool { return x.TransactionDate >= "2025-08-01" }), "last 5 transactions in August", "last 5 transactions of last month")...)
	list = append(list, wording{"last 5 transactions", "2024-06-12T10:00:00Z", b.last(5, "2024-06-12", nil)})
	return append(list, wording{"last 5 transactions with blackreef", closing, []string{"There are no transactions with `Blackreef Holdings Ltd`"}})
}

func billWordings(b books) []wording {
	const today = "2025-09-30"
	list := each(b.due(today, day(today, 7), nil), "Which bills are due within 7 days?", "bills due in the next 7 days", "What bills are due?", "What is due within the next seven days?", "upcoming bills in the next 7 days",
		"Which payables are due in 7 days?", "What do we need to pay within 7 days?", "payments due within the next 7 days")
	list = append(list, each(b.due(today, day(today, 14), nil), "bills due within 14 days", "What bills are due in the next two weeks?", "What do we have to pay in the next 14 days?")...)
	list = append(list, each(b.due(today, day(today, 30), nil), "bills due within 30 days")...)
	list = append(list, each(b.due("2025-09-29", "2025-10-05", nil), "Which bills are due this week?", "What's due this week?", "bills to pay this week", "what needs to be paid this week?", "How much do we have to pay this week?")...)
	list = append(list, each(b.due("2025-10-06", "2025-10-12", nil), "Which bills are due next week?", "what is coming due next week")...)
	list = append(list, each(b.due("2025-10-01", "2025-10-31", nil), "bills due in October", "bills due next month", "bills due in 2025-10")...)
	list = append(list, each(b.due("2025-10-01", "2025-10-01", nil), "What bills are due tomorrow?", "bills due 2025-10-01")...)
	list = append(list, each(b.due("2000-01-01", day(today, -1), nil), "Which bills are overdue?", "overdue bills", "What is past due?", "Do we have any late bills?", "overdue payables", "Is anything overdue?")...)
	list = append(list, each(b.due(today, day(today, 30), func(o *ledger.Obligation) bool { return o.CounterpartyID == "cp_aws" }), "bills to AWS due within 30 days", "AWS bills due in the next 30 days")...)
	list = append(list, each(b.due(today, day(today, 14), func(o *ledger.Obligation) bool { return o.Currency == "EUR" }), "EUR bills due within 14 days")...)
	list = append(list, wording{"When is the AWS bill due?", closing, []string{"2025-10-15 $61,404.12 to `AWS` (`obl_5521`)"}})
	return append(list, wording{"bills due today", closing, []string{"Nothing is due to be paid on 2025-09-30."}})
}

func invoiceWordings(b books) []wording {
	var list []wording
	for number, texts := range map[string][]string{
		"INV-2025-0115": {"status of invoice INV-2025-0115", "Has invoice inv-2025-0115 been paid?", "What is the status of INV-2025-0115 and its payments?", "invoice inv_2025-0115"},
		"INV-2025-0095": {"Is invoice INV-2025-0095 paid?", "is INV-2025-0095 overdue?", "When is invoice INV-2025-0095 due?"},
		"INV-2025-0084": {"What's the state of invoice number INV-2025-0084?"},
		"INV-2024-0154": {"INV-2024-0154 status"},
		"FER-20250913":  {"Show me invoice FER-20250913", "invoice FER-20250913 of Fernwood"},
		"INV-2025-0160": {"how much of invoice INV-2025-0160 is still open"},
		"INV-2025-0157": {"Was invoice INV-2025-0157 paid yet?"},
	} {
		list = append(list, each(b.invoice(number), texts...)...)
	}
	for _, i := range b.Invoices {
		if len(i.LinkedTransactionIDs) == 2 {
			list = append(list, each(b.invoice(i.InvoiceNumber), "payments on invoice "+i.InvoiceNumber)...)
		}
	}
	return list
}

func spendingWordings(b books) []wording {
	aws := []string{"`AWS` at $61,404.12 across 3 environments", "`cloud`"}
	september := b.top(1, "2025-09-01", "2025-09-30", category)
	list := each(append(aws, september...), "What's our top expense category this month?", "what is our biggest expense category this month", "Which category did we spend the most on this month?",
		"Top spending category in September 2025", "largest expense category in 2025-09", "What did we spend the most on in September?", "Where is most of our money going this month?", "top category of spending this month", "our main cost category for Sept 2025")
	list = append(list, each(b.top(1, "2025-08-01", "2025-08-31", category), "What was our top expense category last month?", "biggest spending category in August")...)
	list = append(list, each(b.top(3, "2025-07-01", "2025-09-30", category), "top 3 expense categories this quarter", "top three spending categories in Q3 2025")...)
	list = append(list, each(b.top(1, "2025-01-01", "2025-09-30", category), "top expense category year to date", "largest spending category this year")...)
	list = append(list, each(b.top(1, "2025-09-30", "2025-09-30", category), "top expense category today")...)
	list = append(list, each(b.top(1, "2025-09-01", "2025-09-30", party), "Who did we pay the most this month?", "top vendor this month", "Which supplier did we spend the most with in September 2025?", "biggest counterparty by spend this month")...)
	list = append(list, each(b.top(5, "2025-08-01", "2025-08-31", party), "top 5 vendors last month", "our five largest suppliers in August 2025")...)
	list = append(list, each(b.top(1, "2025-09-24", "2025-09-30", party), "top vendor in the last 7 days")...)
	list = append(list, wording{"What's our top expense category this month?", "2024-03-20T08:00:00+02:00", b.top(1, "2024-03-01", "2024-03-20", category)})
	return append(list, wording{"top expense category in December", closing, b.top(1, "2024-12-01", "2024-12-31", category)})
}

func each(says []string, texts ...string) []wording {
	var list []wording
	for _, text := range texts {
		list = append(list, wording{text, closing, says})
	}
	return list
}

// TestWordings asks every wording and holds the answer against the rows.
func TestWordings(t *testing.T) {
	b := booksOf(demo.Acme)
	total := 0
	for family, list := range map[string][]wording{
		"cash": cashWordings(b), "last": lastWordings(b), "bills": billWordings(b), "invoices": invoiceWordings(b), "spending": spendingWordings(b),
	} {
		total += len(list)
		for _, w := range list {
			t.Run(family+"/"+w.text, func(t *testing.T) {
				a := ask(t, demo.Acme, w.text, w.asOf)
				if !a.Answered || a.Plan == nil || len(w.says) == 0 {
					t.Fatalf("not answered: %s", a.Answer)
				}
				for _, part := range w.says {
					if !strings.Contains(a.Answer, part) {
						t.Errorf("the answer lacks %q:\n%s", part, a.Answer)
					}
				}
				wellCited(t, b, a.Evidence)
			})
		}
	}
	if total < 80 {
		t.Errorf("%d wordings", total)
	}
	t.Logf("%d wordings", total)
}
