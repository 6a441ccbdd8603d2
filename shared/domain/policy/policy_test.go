package policy_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/policy"
)

// noError stops the test when err is not nil.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

// equal reports a difference.
func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// same reports two slices that are not equal, nil and empty being two things.
func same[T comparable](t testing.TB, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) || (got == nil) != (want == nil) {
		t.Errorf("%s = %#v, want %#v", what, got, want)
	}
}

// parsed reads a document that is in order.
func parsed(t testing.TB, raw string) policy.Document {
	t.Helper()
	d, err := policy.Parse([]byte(raw))
	noError(t, err)
	return d
}

// document is one of these rules, with the lists the tests use.
func document(rules ...string) string {
	return `{"version":1,"lists":{"trusted":["cp_aws","cp_gcp"],"blocked":["cp_bad"],"nobody":[]},"rules":[` + strings.Join(rules, ",") + `]}`
}

// rule is a rule of every class.
func rule(id, execute, when string, more ...string) string {
	text := `{"id":"` + id + `","applies_to":["any"],"execute":"` + execute + `","when":{` + when + `}`
	for _, m := range more {
		text += "," + m
	}
	return text + "}"
}

func amount(t testing.TB, decimal, code string) *money.Amount {
	t.Helper()
	c, err := money.Parse(code)
	noError(t, err)
	a, err := money.ParseAmount(decimal, c)
	noError(t, err)
	return &a
}

func at(t testing.TB, text string) time.Time {
	t.Helper()
	when, err := time.Parse(time.RFC3339, text)
	noError(t, err)
	return when
}

func pointer[T any](v T) *T { return &v }

// promises is a table of what was promised, by subject and window; the key of a
// count has no currency. What is not in it is not known.
type promises map[string]any

func (p promises) Spend(per policy.Per, window policy.Window, currency money.Currency) (money.Amount, bool) {
	a, known := p[string(per)+" "+string(window)+" "+currency.String()].(money.Amount)
	return a, known
}

func (p promises) Count(per policy.Per, window policy.Window) (int64, bool) {
	n, known := p[string(per)+" "+string(window)].(int64)
	return n, known
}

const behavior = "0x00000000000000000000000000000000000000000000000000000000000000ab"

// complete are facts in which nothing is missing: 100 USD by ACH to AWS, on a
// Wednesday at noon, after 900 USD in two payments of the agent that day.
func complete(t testing.TB) policy.Facts {
	t.Helper()
	return policy.Facts{
		Class: policy.OutboundPayment, Action: "ach_outbound", Amount: amount(t, "100", "USD"),
		Agent:            policy.Agent{ID: "agt_ap", Role: "ap", BehaviorHash: behavior, Confidence: pointer(0.9)},
		Counterparty:     &policy.Counterparty{ID: "cp_aws", Type: "vendor", RiskLevel: "medium", VerifiedStatus: "document_verified"},
		SourceAccount:    "acct_8231",
		ObligationLinked: pointer(true),
		At:               at(t, "2025-10-01T12:00:00Z"),
		Promised:         promises{"agent 24h USD": *amount(t, "900", "USD"), "agent 24h": int64(2)},
	}
}

// text writes a value for a message or a comparison.
func text(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	noError(t, err)
	return string(raw)
}
