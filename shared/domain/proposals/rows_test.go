package proposals_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/proposals"
)

func meta(name string) ledger.Meta {
	return ledger.Meta{ID: name, Provenance: "extracted", Confidence: 1}
}

func account(name, currency, status string) *ledger.Account {
	return &ledger.Account{Meta: meta(name), AccountType: "bank_checking", Name: name, Currency: currency, Status: status}
}

func party(name string, changes ...func(*ledger.Counterparty)) *ledger.Counterparty {
	c := &ledger.Counterparty{Meta: meta(name), Name: name, Type: "vendor", RiskLevel: "low", VerifiedStatus: "document_verified"}
	for _, change := range changes {
		change(c)
	}
	return c
}

func owed(name, to, direction, amount, currency, status string) *ledger.Obligation {
	return &ledger.Obligation{
		Meta: meta(name), Type: "bill", CounterpartyID: to, Direction: direction, AmountDue: amount, Currency: currency, DueDate: "2025-10-07", Status: status,
	}
}

func invoice(name, to, direction, due, paid, currency, status string) *ledger.Invoice {
	return &ledger.Invoice{
		Meta: meta(name), InvoiceNumber: name, CounterpartyID: to, Direction: direction, AmountDue: due, AmountPaid: paid, Currency: currency,
		IssueDate: "2025-09-01", DueDate: "2025-10-01", Status: status,
	}
}

func paid(name, to, amount, date string) *ledger.Transaction {
	return &ledger.Transaction{
		Meta: meta(name), AccountID: "acct_usd", Amount: amount, Currency: "USD", Direction: "outflow", TransactionDate: date,
		CounterpartyID: &to, Status: "posted", ReconciliationStatus: "unreconciled",
	}
}

// rows are the ledger every world begins with.
func rows() []ledger.Row {
	payroll := owed("obl_pay", "cp_aws", "payable", "10000.00", "USD", "upcoming")
	payroll.Type = "payroll"
	return []ledger.Row{
		account("acct_usd", "USD", "active"), account("acct_usd2", "USD", "active"), account("acct_eur", "EUR", "active"),
		account("acct_jpy", "JPY", "active"), account("acct_usdc", "USDC", "active"),
		account("acct_closed", "USD", "closed"), account("acct_frozen", "USD", "frozen"), account("acct_pending", "USD", "pending"),
		party("cp_aws"), party("cp_gcp"), party("cp_wallet", func(c *ledger.Counterparty) { c.Type = "wallet" }),
		party("cp_new", func(c *ledger.Counterparty) { c.VerifiedStatus = "unverified" }),
		party("cp_staff", func(c *ledger.Counterparty) { c.Type, c.MemberID = "employee", ptr("mbr_staff") }),
		paid("tx_1", "cp_aws", "20000.00", "2025-09-01"), paid("tx_2", "cp_gcp", "20000.00", "2025-09-02"),
		owed("obl_open", "cp_aws", "payable", "500.00", "USD", "upcoming"), owed("obl_in", "cp_aws", "receivable", "500.00", "USD", "due"),
		owed("obl_paid", "cp_aws", "payable", "500.00", "USD", "paid"), owed("obl_cancelled", "cp_aws", "payable", "500.00", "USD", "cancelled"),
		owed("obl_disputed", "cp_aws", "payable", "500.00", "USD", "disputed"), owed("obl_overdue", "cp_aws", "payable", "500.00", "USD", "overdue"),
		owed("obl_other", "cp_gcp", "payable", "500.00", "USD", "upcoming"), owed("obl_eur", "cp_aws", "payable", "500.00", "EUR", "upcoming"), payroll,
		invoice("inv_open", "cp_aws", "payable", "500.00", "0.00", "USD", "sent"), invoice("inv_in", "cp_aws", "receivable", "500.00", "0.00", "USD", "sent"),
		invoice("inv_paid", "cp_aws", "payable", "500.00", "500.00", "USD", "paid"), invoice("inv_draft", "cp_aws", "payable", "500.00", "0.00", "USD", "draft"),
		invoice("inv_cancelled", "cp_aws", "payable", "500.00", "0.00", "USD", "cancelled"),
		invoice("inv_disputed", "cp_aws", "payable", "500.00", "0.00", "USD", "disputed"),
		invoice("inv_other", "cp_gcp", "payable", "500.00", "0.00", "USD", "sent"), invoice("inv_eur", "cp_aws", "payable", "500.00", "0.00", "EUR", "sent"),
	}
}

// pay is a payment of dollars to a vendor.
func pay(amount string) payments.Payment {
	return payments.Payment{
		ActionType: payments.ACHOutbound, SourceAccountID: "acct_usd", DestinationCounterpartyID: "cp_aws", Amount: amount, Currency: "USD",
	}
}

func proposal(amount string, changes ...func(*proposals.Proposal)) proposals.Proposal {
	p := proposals.Proposal{Payment: pay(amount)}
	for _, change := range changes {
		change(&p)
	}
	return p
}

func request(amount string, changes ...func(*proposals.Request)) proposals.Request {
	q := proposals.Request{Payment: pay(amount), Purpose: "hosting", ExpiresIn: 15 * time.Minute}
	for _, change := range changes {
		change(&q)
	}
	return q
}

// deed is an action. Its kind decides what the policy below says.
func deed(kind string) proposals.Deed {
	fields, _ := json.Marshal(map[string]any{"kind": kind, "reason": "because of " + kind})
	return proposals.Deed{Kind: kind, Fields: fields}
}

func sum(amount, currency string) *policy.Sum { return &policy.Sum{Amount: amount, Currency: currency} }

// lawOf makes a policy of rules.
func lawOf(rules ...policy.Rule) policy.Document {
	return policy.Document{Lists: map[string][]string{}, Rules: rules}
}

var (
	outbound = []policy.Class{policy.OutboundPayment}
	anything = []policy.Class{policy.Any}
	verified = []string{"self_attested", "document_verified", "sanctions_cleared"}
)

// usual is the policy of most tests: to 1,000 a payment passes, above somebody
// confirms it, nobody unverified is paid.
func usual() policy.Document {
	return lawOf(
		policy.Rule{ID: "small", AppliesTo: outbound, Execute: policy.Auto, When: policy.When{AmountLTE: sum("1000.00", "USD"), CounterpartyVerified: verified}},
		policy.Rule{ID: "large", AppliesTo: outbound, Execute: policy.Confirm, Require: []string{"approver"}, When: policy.When{AmountGT: sum("1000.00", "USD")}},
		policy.Rule{ID: "unverified", AppliesTo: anything, Execute: policy.Reject, When: policy.When{
			CounterpartyVerified: []string{"unverified"}, ActionNotIn: []string{"flag_transaction", "propose_match", "draft_followup"},
		}},
		policy.Rule{ID: "collect", AppliesTo: []policy.Class{policy.InboundPayment}, Execute: policy.Confirm, When: policy.When{CounterpartyVerified: verified}},
		policy.Rule{ID: "erp", AppliesTo: []policy.Class{policy.LedgerWrite}, Execute: policy.Confirm, When: policy.When{CounterpartyVerified: verified}},
		policy.Rule{ID: "chain", AppliesTo: []policy.Class{policy.OnchainTx}, Execute: policy.Auto, When: policy.When{AmountLTE: sum("50", "USDC")}},
		policy.Rule{ID: "chain-large", AppliesTo: []policy.Class{policy.OnchainTx}, Execute: policy.Confirm, When: policy.When{AmountGT: sum("50", "USDC")}},
		policy.Rule{ID: "flags", AppliesTo: []policy.Class{policy.AgentAction}, Execute: policy.Auto, When: policy.When{ActionIn: []string{"flag_transaction"}}},
		policy.Rule{ID: "matches", AppliesTo: []policy.Class{policy.AgentAction}, Execute: policy.Confirm, When: policy.When{ActionIn: []string{"propose_match", "draft_followup"}}},
	)
}

// confirming is a policy by which everything waits for the given roles.
func confirming(roles ...string) policy.Document {
	return lawOf(policy.Rule{ID: "ask", AppliesTo: anything, Execute: policy.Confirm, Require: roles})
}

// seq numbers what must not be equal to anything before.
func seq(n int) string { return fmt.Sprintf("key-%d", n) }
