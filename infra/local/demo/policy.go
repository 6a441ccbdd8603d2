package demo

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

// Policy is the policy a tenant starts with, for its signer to sign.
func Policy(tenant string) ([]byte, error) {
	document := acmePolicy()
	if tenant == Globex {
		document = globexPolicy()
	}
	raw, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the policy of %s: %w", tenant, err)
	}
	return raw, nil
}

// Enact signs a policy as a tenant's signer and puts it in force, as both would do
// with the operator's program.
func Enact(ctx context.Context, register *charter.Register, t identity.Tenant, raw []byte, signer tx.Signer) error {
	hash, err := policy.Hash(raw)
	if err != nil {
		return err
	}
	var head struct{ Version int64 }
	if err := json.Unmarshal(raw, &head); err != nil {
		return err
	}
	signature, err := tx.SignDigest(ctx, signer, register.Domain.Digest(t, head.Version, hash))
	if err != nil {
		return err
	}
	_, err = register.Activate(ctx, t, actor, "demo", raw, []charter.Signature{signature})
	return err
}

// moves are the classes of what moves money.
var moves = []policy.Class{policy.OutboundPayment, policy.InboundPayment, policy.OnchainTx}

func acmePolicy() policy.Document {
	var trusted []string
	for _, p := range acme().parties {
		if p.kind == "vendor" && p.row().VerifiedStatus == "document_verified" && p.row().RiskLevel == "low" {
			trusted = append(trusted, p.id)
		}
	}
	const vendors = "vendors.trusted"
	known := []string{"self_attested", "document_verified", "sanctions_cleared"}
	out := []policy.Class{policy.OutboundPayment}
	daily := func(cap policy.SpendCap) *policy.SpendCap {
		cap.Window, cap.Per = policy.Day, policy.PerAgent
		return &cap
	}
	return policy.Document{
		Version: 1, Lists: map[string][]string{vendors: trusted},
		Rules: []policy.Rule{
			{
				ID: "small-trusted", Description: "Trusted vendors are paid up to 5,000 USD while the agent has promised at most 25,000 USD in 24 hours.",
				AppliesTo: out, Execute: policy.Auto,
				When: policy.When{CounterpartyIn: []string{vendors}, AmountLTE: usd("5000.00"), SpendInWindow: daily(policy.SpendCap{LTE: usd("25000.00")})},
			},
			{
				ID: "large-trusted", Description: "Above 5,000 USD an approver must agree.",
				AppliesTo: out, Execute: policy.Confirm, Require: []string{policy.RoleApprover},
				When: policy.When{CounterpartyIn: []string{vendors}, AmountGT: usd("5000.00")},
			},
			{
				ID: "very-large-trusted", Description: "Above 50,000 USD two people must agree.",
				AppliesTo: out, Execute: policy.Confirm, Require: []string{policy.RoleApprover, policy.RoleApprover},
				When: policy.When{CounterpartyIn: []string{vendors}, AmountGT: usd("50000.00")},
			},
			{
				ID: "window-full", Description: "Beyond 25,000 USD in 24 hours an approver must agree, however small the payment.",
				AppliesTo: out, Execute: policy.Confirm, Require: []string{policy.RoleApprover},
				When: policy.When{CounterpartyIn: []string{vendors}, SpendInWindow: daily(policy.SpendCap{GT: usd("25000.00")})},
			},
			{
				ID: "others-known", Description: "Whoever is known and not on the list of trusted vendors is paid when an approver agrees.",
				AppliesTo: out, Execute: policy.Confirm, Require: []string{policy.RoleApprover},
				When: policy.When{CounterpartyNotIn: []string{vendors}, CounterpartyVerified: known, CounterpartyRisk: "medium"},
			},
			{
				ID: "unverified", Description: "Nobody unverified is paid.",
				AppliesTo: moves, Execute: policy.Reject, When: policy.When{CounterpartyVerified: []string{"unverified"}},
			},
			{
				ID: "collect", Description: "Money is collected when an approver agrees.",
				AppliesTo: []policy.Class{policy.InboundPayment}, Execute: policy.Confirm, Require: []string{policy.RoleApprover},
				When: policy.When{CounterpartyVerified: known},
			},
			{
				ID: "small-onchain", Description: "Requests to pay over HTTP are settled up to 50 USDC, 200 USDC in 24 hours.",
				AppliesTo: []policy.Class{policy.OnchainTx}, Execute: policy.Auto,
				When: policy.When{
					ActionIn: []string{"x402_settle"}, CounterpartyVerified: known, AmountLTE: &policy.Sum{Amount: "50", Currency: "USDC"},
					SpendInWindow: daily(policy.SpendCap{LTE: &policy.Sum{Amount: "200", Currency: "USDC"}}),
				},
			},
			{
				ID: "onchain", Description: "Everything else on the chain needs an admin.",
				AppliesTo: []policy.Class{policy.OnchainTx}, Execute: policy.Confirm, Require: []string{policy.RoleAdmin},
				When: policy.When{CounterpartyVerified: known, AmountGT: &policy.Sum{Amount: "50", Currency: "USDC"}},
			},
			{
				ID: "transfers", Description: "A transfer or an escrow needs an admin, whatever the amount.",
				AppliesTo: []policy.Class{policy.OnchainTx}, Execute: policy.Confirm, Require: []string{policy.RoleAdmin},
				When: policy.When{CounterpartyVerified: known, ActionNotIn: []string{"x402_settle"}},
			},
			{
				ID: "bookkeeping", Description: "What is written to the books needs an approver.",
				AppliesTo: []policy.Class{policy.LedgerWrite}, Execute: policy.Confirm, Require: []string{policy.RoleApprover},
			},
			{
				ID: "findings", Description: "What an agent has found goes to people, who decide.",
				AppliesTo: []policy.Class{policy.AgentAction}, Execute: policy.Confirm,
			},
		},
	}
}

func globexPolicy() policy.Document {
	gbp := func(amount string) *policy.Sum { return &policy.Sum{Amount: amount, Currency: "GBP"} }
	known := []string{"document_verified", "sanctions_cleared"}
	return policy.Document{
		Version: 1, Lists: map[string][]string{},
		Rules: []policy.Rule{
			{
				ID: "small", Description: "Known payees are paid up to 250 GBP.", AppliesTo: []policy.Class{policy.OutboundPayment}, Execute: policy.Auto,
				When: policy.When{CounterpartyVerified: known, AmountLTE: gbp("250.00")},
			},
			{
				ID: "large", Description: "Above that the owner must agree.", AppliesTo: []policy.Class{policy.OutboundPayment}, Execute: policy.Confirm,
				Require: []string{policy.RoleAdmin}, When: policy.When{CounterpartyVerified: known, AmountGT: gbp("250.00")},
			},
			{ID: "findings", Description: "Findings go to people.", AppliesTo: []policy.Class{policy.AgentAction}, Execute: policy.Confirm},
		},
	}
}

func usd(amount string) *policy.Sum { return &policy.Sum{Amount: amount, Currency: "USD"} }
