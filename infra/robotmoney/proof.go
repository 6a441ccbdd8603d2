package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/robotmoney/mcp/infra/verify/verify"
	"github.com/robotmoney/mcp/shared/domain/proof"
	"github.com/robotmoney/mcp/shared/domain/proof/claim"
)

// proofFile reads the file a command is about; - is the standard input.
func (c *call) proofFile() ([]byte, error) {
	if err := c.parse(1); err != nil {
		return nil, err
	}
	if c.args[0] == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(c.args[0])
}

// proofVerify checks a proof: every hash, path and claim in it, and with --rpc
// the roots on the chain.
func proofVerify(ctx context.Context, c *call) error {
	rpc := c.flags.String("rpc", "", "an Ethereum node to ask for the roots; empty asks nobody")
	contract := c.flags.String("contract", "", "the address the anchors must be at; empty takes what the proof says")
	raw, err := c.proofFile()
	if err != nil {
		return err
	}
	report := verify.Proof(ctx, raw, verify.Options{RPC: *rpc, Contract: *contract})
	if c.json {
		if err := c.print(report); err != nil {
			return err
		}
	} else {
		report.Print(c.out)
	}
	if !report.Holds() {
		return errors.New("the proof does not hold")
	}
	return nil
}

// openProof reads a proof to be shown. What does not hold is not shown: it would
// look like what it says.
func (c *call) openProof(ctx context.Context) (claim.Proof, error) {
	var p claim.Proof
	raw, err := c.proofFile()
	if err != nil {
		return p, err
	}
	if failed := verify.Proof(ctx, raw, verify.Options{}).Failed(); len(failed) > 0 {
		return p, fmt.Errorf("the proof does not hold (%s: %s); see `robotmoney proof verify`", failed[0].Name, failed[0].Detail)
	}
	return p, json.Unmarshal(raw, &p)
}

// proofShow prints what a proof says, after checking it.
func proofShow(ctx context.Context, c *call) error {
	p, err := c.openProof(ctx)
	if err != nil {
		return err
	}
	lines := [][2]string{{"action", p.ActionID}, {"tenant", p.TenantID}, {"agent", p.AgentID}, {"outcome", p.Outcome}}
	if p.Policy != nil {
		lines = append(lines, [2]string{"policy", fmt.Sprintf("version %v, %s by %s", p.Policy.Version, p.Policy.Outcome, p.Policy.DecisionID)})
	}
	passed := 0
	for _, v := range p.GateChecks {
		if check, ok := v.(map[string]any); ok && check["passed"] == true {
			passed++
		}
	}
	lines = append(lines, [2]string{"gate", fmt.Sprintf("%d of %d checks passed", passed, len(p.GateChecks))}, [2]string{"approvals", fmt.Sprint(len(p.Approvals))})
	for _, e := range p.Evidence {
		lines = append(lines, [2]string{"evidence", oneLine(e.Kind + " " + e.Ref)})
	}
	for _, e := range p.AuditEvents {
		entry, err := claim.Open(e.Preimage)
		if err != nil {
			return err
		}
		lines = append(lines, [2]string{fmt.Sprintf("event %d", e.Seq), oneLine(fmt.Sprintf("%v %v, %s", entry.Event["created_at"], entry.Event["action"], anchorWords(e.Anchor)))})
	}
	return c.print(p, append(lines, [2]string{"explanation", p.Explanation})...)
}

// oneLine keeps a text from outside from moving the cursor of who reads it.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f {
			return '?'
		}
		return r
	}, text)
}

// anchorWords is an anchor in words.
func anchorWords(a *claim.Anchor) string {
	if a == nil {
		return "not anchored yet"
	}
	return fmt.Sprintf("%s in block %d of chain %d", a.Status, a.BlockNumber, a.ChainID)
}

// proofGet prints a proof as the surface gives it, for the other commands and for
// whoever wants to check it.
func proofGet(ctx context.Context, c *call) error {
	t, err := c.forTenant(1)
	if err != nil {
		return err
	}
	target, err := c.connect(ctx)
	if err != nil {
		return err
	}
	raw, err := (&proof.Reader{Store: target.store}).Proof(ctx, t, c.args[0])
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.out, "%s\n", raw)
	return err
}
