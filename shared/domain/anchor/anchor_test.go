package anchor_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/robotmoney/mcp/infra/verify/verify"
	"github.com/robotmoney/mcp/shared/domain/anchor"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/merkle"
	"github.com/robotmoney/mcp/shared/domain/proof"
	"github.com/robotmoney/mcp/shared/domain/proof/claim"
)

// proven reads a proof and reports an event whose path does not lead to its root,
// or whose anchor is not of this status.
func proven(t testing.TB, of identity.Tenant, action, status string, events int) claim.Proof {
	t.Helper()
	raw, err := (&proof.Reader{Store: database.Table()}).Proof(t.Context(), of, action)
	noError(t, err)
	var p claim.Proof
	noError(t, json.Unmarshal(raw, &p))
	equal(t, "events", len(p.AuditEvents), events)
	for _, e := range p.AuditEvents {
		if status == "" {
			equal(t, "anchor", e.Anchor, nil)
			continue
		}
		if e.Anchor == nil {
			t.Fatalf("event %d has no anchor", e.Seq)
		}
		equal(t, "status", e.Anchor.Status, status)
		var path []merkle.Hash
		for _, node := range e.Path {
			path = append(path, merkle.Hash(hash(t, node)))
		}
		if !merkle.Verify(merkle.Hash(hash(t, e.Leaf)), path, merkle.Hash(hash(t, e.Anchor.Root))) {
			t.Errorf("the path of event %d does not lead to its root", e.Seq)
		}
	}
	return p
}

func hash(t testing.TB, text string) identity.Hash {
	t.Helper()
	h, err := identity.ParseHash(text)
	noError(t, err)
	return h
}

func TestAnchor(t *testing.T) {
	w := newWorld(t)
	a, b := tenant(t), tenant(t)
	happened(t, a, 0, 100)
	happened(t, b, 0, 1)
	before := w.sent(t)
	proven(t, a, "pi_1", "", 34)

	report := w.runs(t)
	equal(t, "planned", report.Planned, 2)
	equal(t, "published", report.Published, 2)
	equal(t, "transactions", w.sent(t)-before, 1)
	proven(t, a, "pi_1", claim.Pending, 34)
	proven(t, a, "exec_1", claim.Pending, 34)
	equal(t, "path of a tree of one", len(proven(t, b, "pi_1", claim.Pending, 1).AuditEvents[0].Path), 0)

	mine(t)
	report = w.runs(t)
	equal(t, "final", report.Final, 2)
	equal(t, "open", report.Open, 0)
	p := proven(t, a, "pi_1", claim.Final, 34)
	equal(t, "outcome", p.Outcome, "state 99")
	equal(t, "chain", p.AuditEvents[0].Anchor.ChainID, 31337)
	equal(t, "contract", p.AuditEvents[0].Anchor.Contract, w.contract.String())

	equal(t, "nothing new", w.runs(t).Planned, 0)
	happened(t, a, 100, 103)
	w.finishes(t)
	equal(t, "transactions", w.sent(t)-before, 2)
	proven(t, a, "pi_1", claim.Final, 35)
}

// A long journal is cut into periods, each with a root of its own.
func TestPeriods(t *testing.T) {
	w := newWorld(t)
	w.period = 10
	a := tenant(t)
	happened(t, a, 0, 25)
	before := w.sent(t)
	report := w.runs(t)
	equal(t, "planned", report.Planned, 3)
	equal(t, "published", report.Published, 3)
	equal(t, "transactions", w.sent(t)-before, 3)
	w.finishes(t)
	p := proven(t, a, "pi_1", claim.Final, 9)
	roots := map[string]bool{}
	for _, e := range p.AuditEvents {
		roots[e.Anchor.Root] = true
	}
	equal(t, "roots", len(roots), 3)
}

// More tenants than one transaction takes.
func TestBatches(t *testing.T) {
	w := newWorld(t)
	for range anchor.MaxBatch + 1 {
		happened(t, tenant(t), 0, 1)
	}
	before := w.sent(t)
	equal(t, "published", w.runs(t).Published, anchor.MaxBatch+1)
	equal(t, "transactions", w.sent(t)-before, 2)
	w.finishes(t)
}

// A batch that costs more than one transaction may is halved until it fits.
func TestTooLarge(t *testing.T) {
	w := newWorld(t)
	for range 5 {
		happened(t, tenant(t), 0, 1)
	}
	w.node.instead(func(method string, params []json.RawMessage) (string, bool) {
		if method != "eth_estimateGas" {
			return "", false
		}
		var call struct{ Data string }
		noError(t, json.Unmarshal(params[0], &call))
		if roots := (len(call.Data)/2 - 1 - 4 - 64) / (7 * 32); roots > 2 {
			return []string{`"result":"0xfffff0"`, `"error":{"code":-32000,"message":"gas required exceeds allowance (16777216)"}`}[roots%2], true
		}
		return "", false
	})
	before := w.sent(t)
	equal(t, "published", w.runs(t).Published, 5)
	equal(t, "transactions", w.sent(t)-before, 3)
	w.node.well()
	w.finishes(t)
}

// Two rounds at once publish nothing twice.
func TestTwoRounds(t *testing.T) {
	w := newWorld(t)
	a := tenant(t)
	happened(t, a, 0, 40)
	before := w.sent(t)
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() { _, _ = w.anchor(t).Run(t.Context()) }) // one may meet the other
	}
	both.Wait()
	w.finishes(t)
	equal(t, "transactions", w.sent(t)-before, 1)
	once(t, w, a)
	proven(t, a, "pi_1", claim.Final, 14)
}

// A proof of what is anchored holds before the chain, and one whose anchor says
// something else does not.
func TestVerifiedOnTheChain(t *testing.T) {
	w := newWorld(t)
	a := tenant(t)
	happened(t, a, 0, 20)
	w.runs(t)
	holds := func(p claim.Proof) bool {
		raw, err := p.Encode()
		noError(t, err)
		if offline := verify.Proof(t.Context(), raw, verify.Options{}); !offline.Holds() {
			t.Errorf("offline: %v", offline.Failed())
		}
		report := verify.Proof(t.Context(), raw, verify.Options{RPC: ethereum.URL})
		t.Log(report.Failed())
		return report.Holds()
	}
	equal(t, "pending holds", holds(proven(t, a, "pi_1", claim.Pending, 7)), true)
	mine(t)
	w.runs(t)
	read := func() claim.Proof { return proven(t, a, "pi_1", claim.Final, 7) }
	equal(t, "final holds", holds(read()), true)
	equal(t, "of the execution", holds(proven(t, a, "exec_1", claim.Final, 7)), true)
	other := deploy(t, w.signer.Address()).String()
	for name, change := range map[string]func(*claim.Anchor){
		"tx_hash": func(a *claim.Anchor) { a.TxHash = "0x" + strings.Repeat("1", 64) }, "block": func(a *claim.Anchor) { a.BlockNumber-- },
		"chain": func(a *claim.Anchor) { a.ChainID = 1 }, "contract": func(a *claim.Anchor) { a.Contract = other },
		"no contract": func(a *claim.Anchor) { a.Contract = "0x" + strings.Repeat("1", 40) },
	} {
		p := read()
		for _, e := range p.AuditEvents {
			change(e.Anchor)
		}
		equal(t, name, holds(p), false)
	}
}
