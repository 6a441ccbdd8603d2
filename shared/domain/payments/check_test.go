package payments_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/policy"
)

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// refused wants invalid_argument and the argument's name in the message.
func refused(t *testing.T, err error, says string) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.InvalidArgument || !strings.Contains(f.Message, says) {
		t.Errorf("error = %v, want invalid_argument about %s", err, says)
	}
}

func ptr[T any](v T) *T { return &v }

const (
	wallet = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" // an example of EIP-55
	terms  = "0xabababababababababababababababababababababababababababababababab"
)

// ach, x402 and escrow are payments in order.
func ach(amount, currency string) payments.Payment {
	return payments.Payment{
		ActionType: payments.ACHOutbound, SourceAccountID: "acct_1", DestinationCounterpartyID: "cp_1", Amount: amount, Currency: currency,
	}
}

func x402(payTo string) payments.Payment {
	p := ach("1.5", "USDC")
	p.ActionType, p.PayTo = payments.X402Settle, &payTo
	return p
}

func escrow(id, hash string) payments.Payment {
	p := ach("1.5", "USDC")
	p.ActionType, p.EscrowID, p.JobTermsHash = payments.EscrowRelease, &id, &hash
	return p
}

// TestAmounts: what an amount may look like in each currency, and its one form
// afterwards.
func TestAmounts(t *testing.T) {
	for _, c := range []struct {
		amount, currency string
		want             string // empty: refused
	}{
		{"1", "USD", "1.00"}, {"100", "USD", "100.00"}, {"100.00", "USD", "100.00"}, {"0.01", "USD", "0.01"}, {"1.5", "USD", "1.50"},
		{"0", "USD", ""}, {"0.00", "USD", ""}, {"-1", "USD", ""}, {"-0", "USD", ""}, {"+1", "USD", ""}, {"1e3", "USD", ""}, {"1.001", "USD", ""},
		{"", "USD", ""}, {".", "USD", ""}, {".5", "USD", ""}, {"5.", "USD", ""}, {"01", "USD", ""}, {"1,000", "USD", ""}, {"1 000", "USD", ""},
		{" 1", "USD", ""}, {"1\n", "USD", ""}, {"1.0.0", "USD", ""}, {"0x10", "USD", ""}, {"NaN", "USD", ""}, {"Infinity", "USD", ""},
		{"１", "USD", ""}, {"١٢", "USD", ""}, {"1٫5", "USD", ""}, {"²", "USD", ""}, {"1\u00a0", "USD", ""}, {"1\x00", "USD", ""}, {"\xff", "USD", ""},
		{"1500", "JPY", "1500"}, {"1.5", "JPY", ""}, {"1.0", "JPY", ""}, {"0.5", "JPY", ""},
		{"1.234", "KWD", "1.234"}, {"1.2345", "KWD", ""}, {"1.2345", "CLF", "1.2345"},
		{strings.Repeat("9", 36) + ".99", "USD", strings.Repeat("9", 36) + ".99"}, {strings.Repeat("9", 37), "USD", ""}, {strings.Repeat("9", 40), "USD", ""},
		{strings.Repeat("9", 38), "JPY", strings.Repeat("9", 38)}, {strings.Repeat("9", 39), "JPY", ""}, {strings.Repeat("1", 1<<16), "JPY", ""},
	} {
		p := ach(c.amount, c.currency)
		amount, err := p.Check()
		if c.want == "" {
			refused(t, err, "amount")
			continue
		}
		if err != nil {
			t.Errorf("%q %s: %v", c.amount, c.currency, err)
			continue
		}
		equal(t, c.amount, p.Amount, c.want)
		equal(t, c.amount+" as money", amount.String(), c.want)
		again, err := p.Money()
		equal(t, c.amount+" read back", fmt.Sprint(again, err), c.want+" <nil>")
	}
	for amount, want := range map[string]string{"1.000001": "1.000001", "1.0000001": "", "0.0000001": "", "1": "1.000000"} {
		p := x402(wallet)
		p.Amount = amount
		if _, err := p.Check(); (err == nil) != (want != "") || err == nil && p.Amount != want {
			t.Errorf("%s USDC: %s, %v", amount, p.Amount, err)
		}
	}
}

// TestCurrencies: every type is made in its own.
func TestCurrencies(t *testing.T) {
	for _, a := range payments.Vocabulary {
		for _, currency := range []string{"USD", "EUR", "JPY", "USDC", "usd", "USDT", "XAU", "", "US", "USD ", "ＵＳＤ", "ETH"} {
			p := whole(a.Type)
			p.Currency, p.Amount = currency, "1"
			_, err := p.Check()
			_, unknown := money.Parse(currency)
			onchain := slices.Contains([]payments.ActionType{"onchain_transfer", "x402_settle", "escrow_release"}, a.Type)
			if unknown == nil && onchain == (currency == "USDC") {
				if err != nil {
					t.Errorf("%s in %s: %v", a.Type, currency, err)
				}
				continue
			}
			refused(t, err, "currency")
		}
	}
}

// whole is a payment of a type with what the type needs.
func whole(kind payments.ActionType) payments.Payment {
	p := ach("1", "USD")
	switch kind {
	case payments.X402Settle:
		p = x402(wallet)
	case payments.EscrowRelease:
		p = escrow("esc-1", terms)
	case payments.OnchainTransfer:
		p.Currency = "USDC"
	}
	p.ActionType = kind
	return p
}

func TestTypes(t *testing.T) {
	for _, name := range []string{"", "ACH_OUTBOUND", "ach", "ach_outbound ", "bitcoin", strings.Repeat("x", 1000)} {
		p := ach("1", "USD")
		p.ActionType = payments.ActionType(name)
		_, err := p.Check()
		refused(t, err, "action_type")
		if len(fault.Of(err).Message) > 400 {
			t.Error("the message quotes all of it")
		}
	}
	equal(t, "class of none", payments.ActionType("x").Class(), policy.Class(""))
}

// TestOwnFieldsOfTypes: what a type needs is there, and what it does not is not.
func TestOwnFieldsOfTypes(t *testing.T) {
	for _, a := range payments.Vocabulary {
		for _, field := range []string{"pay_to", "escrow_id", "job_terms_hash"} {
			p := whole(a.Type)
			at := map[string]**string{"pay_to": &p.PayTo, "escrow_id": &p.EscrowID, "job_terms_hash": &p.JobTermsHash}[field]
			if slices.Contains(a.RequiredFields, field) {
				*at = nil
			} else {
				*at = ptr(map[string]string{"pay_to": wallet, "escrow_id": "esc-1", "job_terms_hash": terms}[field])
			}
			_, err := p.Check()
			refused(t, err, field)
		}
		p := whole(a.Type)
		if _, err := p.Check(); err != nil {
			t.Errorf("%s: %v", a.Type, err)
		}
	}
}

func TestPayTo(t *testing.T) {
	for text, want := range map[string]string{
		wallet: wallet, strings.ToLower(wallet): wallet, "0x" + strings.ToUpper(wallet[2:]): wallet,
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD": "", "0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed": "", "0x" + strings.Repeat("0", 40): "",
		"": "", "0x": "", wallet[2:]: "", wallet[:41]: "", wallet + "0": "", "0X" + wallet[2:]: "", "0x" + strings.Repeat("g", 40): "", " " + wallet: "",
	} {
		p := x402(text)
		_, err := p.Check()
		if want == "" {
			refused(t, err, "pay_to")
		} else if err != nil || *p.PayTo != want {
			t.Errorf("%s: %s, %v", text, *p.PayTo, err)
		}
	}
}

func TestEscrow(t *testing.T) {
	for _, c := range []struct{ id, hash, says string }{
		{"e", terms, ""}, {strings.Repeat("e", 128), terms, ""}, {"", terms, "escrow_id"}, {strings.Repeat("e", 129), terms, "escrow_id"},
		{"e", "", "job_terms_hash"}, {"e", terms[2:], "job_terms_hash"}, {"e", terms[:64], "job_terms_hash"}, {"e", terms + "00", "job_terms_hash"},
		{"e", "0x" + strings.Repeat("zz", 32), "job_terms_hash"},
	} {
		p := escrow(c.id, c.hash)
		if _, err := p.Check(); c.says != "" {
			refused(t, err, c.says)
		} else if err != nil {
			t.Errorf("%q: %v", c.id, err)
		}
	}
	p := escrow("e", strings.ToUpper(terms[2:]))
	*p.JobTermsHash = "0x" + *p.JobTermsHash
	if _, err := p.Check(); err != nil || *p.JobTermsHash != terms {
		t.Errorf("one form: %s, %v", *p.JobTermsHash, err)
	}
}

func TestMemoAndEvidence(t *testing.T) {
	many := func(n int) []string {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("tx_%d", i))
		}
		return names
	}
	for _, c := range []struct {
		name     string
		memo     *string
		evidence []string
		says     string
	}{
		{"none", nil, nil, ""},
		{"500 characters", ptr(strings.Repeat("ä", 500)), nil, ""},
		{"501 characters", ptr(strings.Repeat("ä", 501)), nil, "memo"},
		{"501 bytes of no text", ptr(strings.Repeat("\xff", 501)), nil, "memo"},
		{"20 ids", nil, many(20), ""},
		{"21 ids", nil, many(21), "evidence_ids"},
		{"of every kind", nil, []string{"tx_1", "inv_1", "obl_1", "raw_1", "prs_1", "acct_1", "cp_1"}, ""},
		{"one twice", nil, []string{"tx_1", "inv_1", "tx_1"}, "evidence_ids[2]"},
		{"an intent", nil, []string{"pi_1"}, "evidence_ids[0]"},
		{"an agent", nil, []string{"tx_1", "agt_1"}, "evidence_ids[1]"},
		{"no id", nil, []string{""}, "evidence_ids[0]"},
		{"a prefix", nil, []string{"tx_"}, "evidence_ids[0]"},
		{"a separator of keys", nil, []string{"tx_1#row"}, "evidence_ids[0]"},
		{"another case", nil, []string{"TX_1"}, "evidence_ids[0]"},
		{"too long", nil, []string{"tx_" + strings.Repeat("x", 65)}, "evidence_ids[0]"},
	} {
		p := ach("1", "USD")
		p.Memo, p.EvidenceIDs = c.memo, c.evidence
		if _, err := p.Check(); c.says != "" {
			refused(t, err, c.says)
		} else if err != nil || p.EvidenceIDs == nil || len(p.EvidenceIDs) != len(c.evidence) {
			t.Errorf("%s: %v, %v", c.name, p.EvidenceIDs, err)
		}
	}
}

// TestWhoseAndHow: class, domain, floor and direction of each type, written out.
func TestWhoseAndHow(t *testing.T) {
	for kind, want := range map[payments.ActionType]string{
		"ach_outbound": "outbound_payment ap none payable", "ach_inbound": "inbound_payment ar none receivable", "wire": "outbound_payment ap always payable",
		"card_payment": "outbound_payment ap none payable", "erp_writeback": "ledger_write reconciliation none payable",
		"onchain_transfer": "onchain_tx treasury always payable", "x402_settle": "onchain_tx treasury uncapped payable", "escrow_release": "onchain_tx treasury always payable",
	} {
		floor := map[string]string{payments.Never: "none", payments.Always: "always", payments.Uncapped: "uncapped"}[kind.Floor()]
		got := fmt.Sprintf("%s %s %s %s", kind.Class(), kind.Domain(), floor, payments.Payment{ActionType: kind}.Direction())
		equal(t, string(kind), got, want)
	}
	equal(t, "domain of none", payments.ActionType("x").Domain(), identity.Domain(""))
}

// FuzzCheck: what is taken is above zero, in its one form, and is taken again
// unchanged; nothing else is said than invalid_argument.
func FuzzCheck(f *testing.F) {
	for _, a := range payments.Vocabulary {
		p := whole(a.Type)
		text := func(s *string) string {
			if s == nil {
				return ""
			}
			return *s
		}
		f.Add(string(a.Type), p.Amount, p.Currency, text(p.PayTo), text(p.EscrowID), text(p.JobTermsHash), "memo", "tx_1")
	}
	f.Add("ach_outbound", "1e3", "USD", "", "", "", "", "")
	f.Add("x402_settle", "0.0000001", "USDC", "0x", "", "", "\xff", "tx_")
	f.Fuzz(func(t *testing.T, kind, amount, currency, payTo, escrowID, hash, memo, evidence string) {
		given := func(s string) *string {
			if s == "" {
				return nil
			}
			return &s
		}
		p := payments.Payment{
			ActionType: payments.ActionType(kind), SourceAccountID: "acct_1", DestinationCounterpartyID: "cp_1", Amount: amount, Currency: currency,
			PayTo: given(payTo), EscrowID: given(escrowID), JobTermsHash: given(hash), Memo: given(memo),
		}
		if evidence != "" {
			p.EvidenceIDs = []string{evidence}
		}
		a, err := p.Check()
		if err != nil {
			refused(t, err, "")
			return
		}
		if a.Sign() <= 0 || a.Currency().String() != currency || p.Amount != a.String() {
			t.Errorf("%q %s became %s", amount, currency, a)
		}
		first := fmt.Sprintf("%+v %s %s %s", p.Amount, deref(p.PayTo), deref(p.EscrowID), deref(p.JobTermsHash))
		if _, err := p.Check(); err != nil {
			t.Errorf("refused a second time: %v", err)
		}
		equal(t, "a second time", fmt.Sprintf("%+v %s %s %s", p.Amount, deref(p.PayTo), deref(p.EscrowID), deref(p.JobTermsHash)), first)
	})
}

func deref(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}
