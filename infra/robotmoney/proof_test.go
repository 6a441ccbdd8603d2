package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/canonical"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/merkle"
	"github.com/robotmoney/mcp/shared/domain/proof/claim"
)

// proofOf writes a proof of an intent that holds and says much, some of it hostile.
func proofOf(t *testing.T) (path string) {
	t.Helper()
	preimage, err := canonical.Marshal(map[string]any{"seq": 0, "prev_hash": strings.Repeat("0", 64), "event": map[string]any{
		"id": "evt_1", "tenant_id": "acme", "action": "payment_intent.execute.after", "created_at": "2025-09-30T12:00:00.000Z", "actor": map[string]any{"type": "function", "id": "execute"},
		"after_state": map[string]any{"id": "pi_1", "status": "executed"}, "policy_decision_id": "pd_1",
		"inputs": map[string]any{"agent": map[string]any{"id": "agt_1"}, "payment": map[string]any{"evidence_ids": []string{"raw_\x1b[2J"}, "memo": "pay \u202e<b>001</b>"}},
		"outputs": map[string]any{
			"gate_checks": []any{map[string]any{"id": "1", "name": "agent_active", "passed": true, "observed": "x"}, map[string]any{"id": "2", "name": "scope", "passed": false, "observed": nil}},
			"approvals":   []any{map[string]any{"member_id": "mbr_1", "note": `<script src="https://example.com/x.js"></script>`}},
			"decision":    map[string]any{"id": "pd_1", "outcome": "auto", "policy_version": 3, "policy_hash": "ab", "matched_rules": []any{"small"}},
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	entry, err := claim.Open(string(preimage))
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := identity.ParseHash("0x" + entry.Hash)
	if err != nil {
		t.Fatal(err)
	}
	root, paths := merkle.Paths([]merkle.Hash{merkle.Hash(leaf), {1}, {2}})
	link := claim.Link{Preimage: string(preimage), Anchor: &claim.Anchor{
		Root: identity.Hash(root).String(), TxHash: leaf.String(), BlockNumber: 7, Contract: "0x5FbDB2315678afecb367f032d93F642f64180aa3", ChainID: 31337, Status: claim.Pending,
	}}
	for _, node := range paths[0] {
		link.Path = append(link.Path, identity.Hash(node).String())
	}
	p, err := claim.Build("pi_1", []claim.Link{link})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "proof.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestProof(t *testing.T) {
	path := proofOf(t)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bad := path + ".bad"
	if err := os.WriteFile(bad, []byte(strings.Replace(string(raw), `"outcome":"executed"`, `"outcome":"rejected"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"proof", "verify", path}, exitOK, "The proof holds: pi_1 is executed."},
		{[]string{"proof", "verify", path, "--json"}, exitOK, `"name": "paths"`},
		{[]string{"proof", "verify", bad}, exitFailed, "FAILED  outcome"},
		{[]string{"proof", "verify", "--json", bad}, exitFailed, `"holds": false`},
		{[]string{"proof", "verify", path, "--rpc", "http://127.0.0.1:1"}, exitFailed, "FAILED  on the chain"},
		{[]string{"proof", "verify", path, "--contract", "0x1"}, exitFailed, "FAILED  contract"},
		{[]string{"proof", "verify", path + "x"}, exitFailed, "no such file"},
		{[]string{"proof", "verify"}, exitUsage, "want 1 argument"},
		{[]string{"proof", "show", path}, exitOK, "1 of 2 checks passed"},
		{[]string{"proof", "show", path}, exitOK, "raw_?[2J"},
		{[]string{"proof", "show", path, "--json"}, exitOK, `"outcome": "executed"`},
		{[]string{"proof", "show", bad}, exitFailed, "does not hold (proof_hash"},
		{[]string{"proof", "html", bad}, exitFailed, "does not hold"},
		{[]string{"proof", "html", path}, exitOK, "<svg"},
	} {
		code, out, errs := commandLine(t, c.args...)
		if code != c.code || !strings.Contains(out+errs, c.says) {
			t.Errorf("%q: exit %d, %q, want exit %d and %q", c.args, code, out+errs, c.code, c.says)
		}
	}
}

// The page shows what the proof says, as text, and loads nothing from anywhere.
func TestProofPage(t *testing.T) {
	_, page, _ := commandLine(t, "proof", "html", proofOf(t))
	for _, has := range []string{
		"agent_active", "1 of 2", "✓ passed", "✗ failed", `tag good">executed`, "mbr_1", "&lt;script src=", "pay ⟨U+202E⟩&lt;b&gt;001", "raw_⟨U+001B⟩[2J", "root 0x", "leaf 0x", "node 1 0x", "beside it 0x",
		"version 3", "pending in block 7", "payment_intent.execute.after",
	} {
		if !strings.Contains(page, has) {
			t.Errorf("the page lacks %q", has)
		}
	}
	for _, never := range []string{"<script", "<link", "<img", "<iframe", "<object", "<b>", "href=", "src=\"", "url(", "@import", "\u202e", "\x1b"} {
		if strings.Contains(page, never) {
			t.Errorf("the page holds %q", never)
		}
	}
}
