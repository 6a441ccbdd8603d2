package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

// policyLint says what is wrong with a document, without asking anybody.
func policyLint(_ context.Context, c *call) error {
	if err := c.parse(1); err != nil {
		return err
	}
	_, document, err := readPolicy(c.args[0])
	if err != nil {
		return err
	}
	findings := policy.Lint(document)
	refused := 0
	var lines [][2]string
	for _, f := range findings {
		if f.Level == policy.Refuse {
			refused++
		}
		lines = append(lines, [2]string{string(f.Level), strings.TrimSpace(f.Rule + " " + f.Message)})
	}
	lines = append(lines, [2]string{"rules", fmt.Sprint(len(document.Rules))}, [2]string{"findings", fmt.Sprintf("%d, %d of them stop an activation", len(findings), refused)})
	if err := c.print(map[string]any{"version": document.Version, "rules": len(document.Rules), "findings": findings}, lines...); err != nil {
		return err
	}
	if refused > 0 {
		return errors.New("the policy would not be activated")
	}
	return nil
}

func readPolicy(path string) ([]byte, policy.Document, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, policy.Document{}, err
	}
	document, err := policy.Parse(raw)
	if err != nil {
		return nil, document, fmt.Errorf("%s: %w", path, err)
	}
	return raw, document, nil
}

// signed is a policy with the signatures it has so far: what signers hand on.
type signed struct {
	TenantID   string              `json:"tenant_id"`
	Version    int64               `json:"version"`
	Hash       string              `json:"hash"`
	Signatures []charter.Signature `json:"signatures"`
}

// policySign adds a signature to the file beside the policy.
func policySign(ctx context.Context, c *call) error {
	t, err := c.forTenant(1)
	if err != nil {
		return err
	}
	raw, document, err := readPolicy(c.args[0])
	if err != nil {
		return err
	}
	target, err := c.connect(ctx)
	if err != nil {
		return err
	}
	key, err := target.key("ROBOTMONEY_SIGNER_KEY", stackfile.SignerKey(t.String()))
	if err != nil {
		return err
	}
	hash, err := policy.Hash(raw)
	if err != nil {
		return err
	}
	signature, err := tx.SignDigest(ctx, key, target.policies.Domain.Digest(t, document.Version, hash))
	if err != nil {
		return err
	}
	want := signed{TenantID: t.String(), Version: document.Version, Hash: hex.EncodeToString(hash[:])}
	file, err := readSigned(c.args[0], want)
	if err != nil {
		return err
	}
	file.Signatures = append(file.Signatures, signature)
	body, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.args[0]+sigSuffix, append(body, '\n'), 0o644); err != nil {
		return err
	}
	return c.print(file, [2]string{"signed by", key.Address().String()}, [2]string{"version", fmt.Sprint(file.Version)},
		[2]string{"hash", file.Hash}, [2]string{"signatures", fmt.Sprint(len(file.Signatures))}, [2]string{"file", c.args[0] + sigSuffix})
}

const sigSuffix = ".sig"

// readSigned reads the signatures of a policy. Those of another document, which a
// file of an older version holds, are left behind.
func readSigned(path string, want signed) (signed, error) {
	raw, err := os.ReadFile(path + sigSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return want, nil
	}
	if err != nil {
		return want, err
	}
	var have signed
	if err := json.Unmarshal(raw, &have); err != nil {
		return want, fmt.Errorf("%s: %w", path+sigSuffix, err)
	}
	if have.TenantID == want.TenantID && have.Version == want.Version && have.Hash == want.Hash {
		want.Signatures = have.Signatures
	}
	return want, nil
}

// policyActivate puts a signed policy in force.
func policyActivate(ctx context.Context, c *call) error {
	t, err := c.forTenant(1)
	if err != nil {
		return err
	}
	raw, document, err := readPolicy(c.args[0])
	if err != nil {
		return err
	}
	hash, err := policy.Hash(raw)
	if err != nil {
		return err
	}
	file, err := readSigned(c.args[0], signed{TenantID: t.String(), Version: document.Version, Hash: hex.EncodeToString(hash[:])})
	if err != nil {
		return err
	}
	if len(file.Signatures) == 0 {
		return fmt.Errorf("%s has no signature of this document: run policy sign first", c.args[0]+sigSuffix)
	}
	target, err := c.connect(ctx)
	if err != nil {
		return err
	}
	actor, requestID, err := operator()
	if err != nil {
		return err
	}
	v, err := target.policies.Activate(ctx, t, actor, requestID, raw, file.Signatures)
	if err != nil {
		return err
	}
	return c.print(v, [2]string{"active version", fmt.Sprint(v.Version)}, [2]string{"hash", v.Hash},
		[2]string{"signers", strings.Join(v.Signers, " ")}, [2]string{"activated at", v.ActivatedAt})
}

// policyShow prints the policy in force.
func policyShow(ctx context.Context, c *call) error {
	t, err := c.forTenant(0)
	if err != nil {
		return err
	}
	target, err := c.connect(ctx)
	if err != nil {
		return err
	}
	items, err := target.store.GetMany(ctx, charter.Keys(t))
	if err != nil {
		return err
	}
	active, err := target.policies.Load(ctx, t, items)
	if err != nil {
		return err
	}
	if active.Invalid != "" {
		return errors.New(active.Invalid + "; everything is denied")
	}
	lines := [][2]string{{"version", fmt.Sprint(active.Version)}, {"hash", active.Hash}, {"signers", strings.Join(active.Signers, " ")}}
	for _, rule := range active.Document.Rules {
		lines = append(lines, [2]string{string(rule.Execute), rule.ID + ": " + rule.Description})
	}
	return c.print(active.Document, lines...)
}

// nothing is a window in which nothing was promised before.
type nothing struct{}

func (nothing) Spend(_ policy.Per, _ policy.Window, c money.Currency) (money.Amount, bool) {
	return money.Zero(c), true
}
func (nothing) Count(policy.Per, policy.Window) (int64, bool) { return 0, true }

// facts are the flags of a simulation.
type facts struct{ action, agent, role, payee, kind, risk, verified, account, amount, currency, at *string }

func factsOf(f *flag.FlagSet) facts {
	return facts{
		action: f.String("action", "ach_outbound", "action type, or the kind of another action"), amount: f.String("amount", "", "decimal amount; empty where no money moves"),
		currency: f.String("currency", "USD", "its currency"), payee: f.String("counterparty", "", "id of the payee"), kind: f.String("type", "vendor", "the payee's type"),
		risk: f.String("risk", "low", "the payee's risk level"), verified: f.String("verified", "document_verified", "the payee's verified status"),
		account: f.String("account", "", "id of the source account"), agent: f.String("agent", "agt_simulated", "id of the agent"), role: f.String("role", "", "role of the agent"),
		at: f.String("at", "", "the time, RFC 3339; now when empty"),
	}
}

func (f facts) read() (policy.Facts, error) {
	linked := false
	out := policy.Facts{
		Class: policy.AgentAction, Action: *f.action, Agent: policy.Agent{ID: *f.agent, Role: *f.role}, SourceAccount: *f.account,
		ObligationLinked: &linked, At: time.Now(), Promised: nothing{},
	}
	if class := payments.ActionType(*f.action).Class(); class != "" {
		out.Class = class
	}
	if *f.payee != "" {
		out.Counterparty = &policy.Counterparty{ID: *f.payee, Type: *f.kind, RiskLevel: *f.risk, VerifiedStatus: *f.verified}
	}
	if *f.amount != "" {
		amount, err := money.Written{Amount: *f.amount, Currency: *f.currency}.Read()
		if err != nil {
			return out, usageError(err.Error())
		}
		out.Amount = &amount
	}
	if *f.at != "" {
		at, err := time.Parse(time.RFC3339, *f.at)
		if err != nil {
			return out, usageError("--at: want an RFC 3339 time")
		}
		out.At = at
	}
	return out, nil
}

// policySimulate judges by a document that need not be in force: a tenant's past
// proposals, or made-up facts with nothing promised before.
func policySimulate(ctx context.Context, c *call) error {
	flags := factsOf(c.flags)
	tenant := c.flags.String("tenant", "", "judge this tenant's past proposals and no made-up facts")
	since := c.flags.String("since", "", "its proposals from this day on, YYYY-MM-DD; 90 days back when empty")
	until := c.flags.String("until", "", "its proposals before this day; all when empty")
	if err := c.parse(1); err != nil {
		return err
	}
	_, document, err := readPolicy(c.args[0])
	if err != nil {
		return err
	}
	if *tenant != "" {
		return c.rehearse(ctx, *tenant, document, *since, *until)
	}
	given, err := flags.read()
	if err != nil {
		return err
	}
	v := document.Evaluate(given)
	lines := [][2]string{{"outcome", string(v.Outcome)}, {"matched", strings.Join(v.Matched, " ")}, {"approvers", strings.Join(v.Approvers, " ")}}
	for _, room := range v.Headroom {
		lines = append(lines, [2]string{"headroom", fmt.Sprintf("%s: %s %s left of %s in %s per %s", room.Rule, room.Left, room.Currency, room.Limit, room.Window, room.Per)})
	}
	for _, rule := range v.Trace {
		for _, condition := range rule.Conditions {
			lines = append(lines, [2]string{rule.Rule, fmt.Sprintf("%s %v: %s", condition.Condition, condition.Passed, condition.Reason)})
		}
	}
	return c.print(v, lines...)
}
