package anchor_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/robotmoney/mcp/infra/local/engine/enginetest"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/journal/checker"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/proof/claim"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// wire is the HTTP layer below the table's client.
type wire func(*http.Request) (*http.Response, error)

// Do sends a request.
func (w wire) Do(req *http.Request) (*http.Response, error) { return w(req) }

// breaks makes the nth call to the table or to the chain fail: before it is made,
// or after, when only its answer is lost.
func breaks(w *world, table, lost bool, nth int32, calls *atomic.Int32) func(*dynamodb.Options) {
	if !table {
		if lost {
			w.node.afterwards(func(string) bool { return calls.Add(1) == nth })
		} else {
			w.node.instead(func(string, []json.RawMessage) (string, bool) { return "", calls.Add(1) == nth })
		}
		return func(*dynamodb.Options) {}
	}
	return func(o *dynamodb.Options) {
		o.RetryMaxAttempts = 1
		o.HTTPClient = wire(func(req *http.Request) (*http.Response, error) {
			fails := calls.Add(1) == nth
			if fails && !lost {
				return nil, errGone
			}
			res, err := enginetest.Connections.Do(req)
			if err == nil && fails {
				_ = res.Body.Close()
				return nil, errGone
			}
			return res, err
		})
	}
}

// Whichever call of the rounds that publish and finish fails, whether it was
// carried out or not: the rounds after make it whole, with every root published
// once, by one transaction, and no path missing.
func TestAnyCallFails(t *testing.T) {
	for _, c := range []struct {
		name        string
		table, lost bool
	}{{"table refuses", true, false}, {"table's answer is lost", true, true}, {"chain refuses", false, false}, {"chain's answer is lost", false, true}} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			for nth := int32(1); ; nth++ {
				forget(t)
				a, b := tenant(t), tenant(t)
				happened(t, a, 0, 7)
				happened(t, b, 0, 4)
				before := w.sent(t)
				var calls atomic.Int32
				broken := w.anchor(t, breaks(w, c.table, c.lost, nth, &calls))
				_, first := broken.Run(t.Context())
				mine(t)
				_, second := broken.Run(t.Context())
				w.node.well()
				if calls.Load() < nth { // there was no such call
					noError(t, first)
					noError(t, second)
					t.Logf("%d calls", calls.Load())
					return
				}
				w.finishes(t)
				once(t, w, a, b)
				equal(t, "transactions that published nothing", w.sent(t)-before-transactions(proven(t, a, "pi_1", claim.Final, 3), proven(t, b, "pi_1", claim.Final, 2)), 0)
				if t.Failed() {
					t.Fatalf("call %d: errors were %v and %v", nth, first, second)
				}
			}
		})
	}
}

// transactions is how many published the roots of the proofs. A round that could
// cut one journal and not the other leaves that to the next one's transaction.
func transactions(proofs ...claim.Proof) int {
	hashes := map[string]bool{}
	for _, p := range proofs {
		for _, e := range p.AuditEvents {
			hashes[e.Anchor.TxHash] = true
		}
	}
	return len(hashes)
}

// once reports a tenant without its one root on the chain.
func once(t *testing.T, w *world, tenants ...identity.Tenant) {
	t.Helper()
	roots := map[string]int{}
	for root, n := range w.published(t) {
		equal(t, "publications of "+root, n, 1)
		roots[strings.Fields(root)[0]]++
	}
	for _, of := range tenants {
		equal(t, "roots of "+of.String(), roots[identity.TenantHash(of.String()).String()], 1)
	}
}

// still keeps blocks from being made while a test looks on.
func still(t *testing.T, w *world) {
	t.Helper()
	w.node.still = true
	noError(t, rpc(nil, "evm_setIntervalMining", 0))
	t.Cleanup(func() { noError(t, rpc(nil, "evm_setIntervalMining", 1)) })
}

// A transaction that gets into a block after its run has given up waiting is
// found and not repeated.
func TestMinedAfterTimeout(t *testing.T) {
	w := newWorld(t)
	w.patience = 1
	still(t, w)
	a := tenant(t)
	happened(t, a, 0, 4)
	before := w.sent(t)
	equal(t, "published", w.runs(t).Published, 0)
	equal(t, "published", w.runs(t).Published, 0) // it is offered again and waits
	proven(t, a, "pi_1", "", 2)
	mine(t)
	equal(t, "published", w.runs(t).Published, 1)
	w.finishes(t)
	equal(t, "transactions", w.sent(t)-before, 1)
	once(t, w, a)
}

// One that waits too long is replaced under its nonce: one of the two comes. How
// long one waits that a clock sent which ran ahead, nobody knows.
func TestReplaced(t *testing.T) {
	for name, wait := range map[string]time.Duration{"too long": 11 * time.Minute, "from the future": -26 * time.Hour} {
		t.Run(name, func(t *testing.T) { replaced(t, wait) })
	}
}

func replaced(t *testing.T, wait time.Duration) {
	w := newWorld(t)
	w.patience = 1
	still(t, w)
	a := tenant(t)
	happened(t, a, 0, 4)
	before := w.sent(t)
	w.runs(t)
	first := w.flight(t)
	w.clock = w.clock.Add(wait)
	w.runs(t)
	second := w.flight(t)
	equal(t, "another", first["hash"] != second["hash"], true)
	equal(t, "of the same nonce", first["nonce"], second["nonce"])
	equal(t, "offers", w.node.asked("eth_sendRawTransaction"), 2)
	mine(t)
	w.finishes(t)
	equal(t, "transactions", w.sent(t)-before, 1)
	p := proven(t, a, "pi_1", claim.Final, 2)
	equal(t, "transaction", p.AuditEvents[0].Anchor.TxHash, second["hash"].(string))
}

// flight is what is in flight, as it is stored; nil for nothing.
func (w *world) flight(t *testing.T) map[string]any {
	t.Helper()
	item, found, err := database.Table().Get(t.Context(), key.AnchorFlight())
	noError(t, err)
	var f map[string]any
	if found {
		noError(t, json.Unmarshal(item.Body, &f))
	}
	return f
}

// A publisher without funds sends nothing and says so. With funds it goes on.
func TestNoFunds(t *testing.T) {
	w := newWorld(t)
	w.signer = localKey(t, "0x"+strings.Repeat("77", 32))
	w.contract = deploy(t, w.signer.Address())
	noError(t, rpc(nil, "anvil_setBalance", w.signer.Address().String(), "0x1"))
	a := tenant(t)
	happened(t, a, 0, 4)
	report, err := w.anchor(t).Run(t.Context())
	says(t, err, "send it funds")
	equal(t, "open", report.Open, 1)
	equal(t, "oldest", report.Oldest.IsZero(), false)
	equal(t, "offers", w.node.asked("eth_sendRawTransaction"), 0)
	noError(t, rpc(nil, "anvil_setBalance", w.signer.Address().String(), "0xde0b6b3a7640000"))
	happened(t, a, 4, 7)
	w.finishes(t)
	proven(t, a, "pi_1", claim.Final, 3)
}

// A node that takes a transaction and is away from then on.
func TestDarkAfterSend(t *testing.T) {
	w := newWorld(t)
	a := tenant(t)
	happened(t, a, 0, 4)
	before, dark := w.sent(t), false
	w.node.instead(func(method string, _ []json.RawMessage) (string, bool) { return "", dark })
	w.node.afterwards(func(method string) bool { dark = dark || method == "eth_sendRawTransaction"; return dark })
	_, err := w.anchor(t).Run(t.Context())
	says(t, err, "send transaction")
	w.node.well()
	w.finishes(t)
	equal(t, "transactions", w.sent(t)-before, 1)
	once(t, w, a)
}

// A node that says it took a transaction and lost it: the very same one is
// offered again.
func TestDroppedAfterSend(t *testing.T) {
	w := newWorld(t)
	w.patience = 1
	a := tenant(t)
	happened(t, a, 0, 4)
	before := w.sent(t)
	var raw []string
	w.node.instead(func(method string, params []json.RawMessage) (string, bool) {
		if method != "eth_sendRawTransaction" {
			return "", false
		}
		raw = append(raw, string(params[0]))
		return `"result":"` + hashOf(t, params[0]) + `"`, len(raw) == 1
	})
	equal(t, "published", w.runs(t).Published, 0)
	w.runs(t)
	w.node.well()
	w.finishes(t)
	equal(t, "offers", len(raw), 2)
	equal(t, "of the same bytes", raw[0] == raw[1], true)
	equal(t, "transactions", w.sent(t)-before, 1)
}

// hashOf is the hash of a raw transaction in a JSON string.
func hashOf(t testing.TB, raw json.RawMessage) string {
	t.Helper()
	var text string
	noError(t, json.Unmarshal(raw, &text))
	data := make([]byte, len(text)/2-1)
	for i := range data {
		for _, digit := range text[2+2*i : 4+2*i] {
			data[i] = data[i]<<4 | byte(strings.IndexRune("0123456789abcdef", digit))
		}
	}
	return identity.Keccak(data).String()
}

// An endpoint that serves another chain is not believed; settings that changed
// while something is in flight are refused before anything is sent.
func TestAnotherChain(t *testing.T) {
	w := newWorld(t)
	a := tenant(t)
	happened(t, a, 0, 4)
	w.node.instead(func(method string, _ []json.RawMessage) (string, bool) {
		return `"result":"0x1"`, method == "eth_chainId"
	})
	report, err := w.anchor(t).Run(t.Context())
	says(t, err, "The chain could not be read")
	equal(t, "planned all the same", report.Planned, 1)
	equal(t, "offers", w.node.asked("eth_sendRawTransaction"), 0)

	w.node.instead(func(method string, _ []json.RawMessage) (string, bool) { return "", method == "eth_sendRawTransaction" })
	_, err = w.anchor(t).Run(t.Context())
	says(t, err, "send transaction")
	w.node.instead(func(method string, _ []json.RawMessage) (string, bool) {
		return `"result":"0x1"`, method == "eth_chainId"
	})
	w.chainID = 1
	_, err = w.anchor(t).Run(t.Context())
	says(t, err, "in flight on chain 31337")
	w.node.well()
	w.chainID = 31337
	w.finishes(t)
	once(t, w, a)
	proven(t, a, "pi_1", claim.Final, 2)
}

// Blocks that are no more take their roots with them; they are published again.
func TestReorg(t *testing.T) {
	w := newWorld(t)
	a := tenant(t)
	happened(t, a, 0, 4)
	var snapshot string
	noError(t, rpc(&snapshot, "evm_snapshot"))
	w.runs(t)
	first := proven(t, a, "pi_1", claim.Pending, 2).AuditEvents[0].Anchor
	var reverted bool
	noError(t, rpc(&reverted, "evm_revert", snapshot))
	equal(t, "reverted", reverted, true)
	equal(t, "published", len(w.published(t)), 0)
	noError(t, rpc(nil, "evm_mine"))
	equal(t, "replaced", w.runs(t).Replaced, 1)
	w.finishes(t)
	second := proven(t, a, "pi_1", claim.Final, 2).AuditEvents[0].Anchor
	equal(t, "the same root", second.Root, first.Root)
	once(t, w, a)
}

// What is on the chain and nowhere in the table, as after a restored backup, is
// found by the contract and its log.
func TestForgottenFlight(t *testing.T) {
	w := newWorld(t)
	w.patience = 1
	still(t, w)
	a := tenant(t)
	happened(t, a, 0, 4)
	before := w.sent(t)
	w.runs(t)
	hash := w.flight(t)["hash"]
	noError(t, database.Table().Commit(t.Context(), record.Change{Deletes: []key.Key{key.AnchorFlight()}}))
	mine(t)
	equal(t, "published", w.runs(t).Published, 1)
	w.finishes(t)
	equal(t, "transactions", w.sent(t)-before, 1)
	equal(t, "transaction", any(proven(t, a, "pi_1", claim.Final, 2).AuditEvents[0].Anchor.TxHash), hash)
}

// A transaction whose nonce another one took can never come: another is made.
func TestNonceIsTaken(t *testing.T) {
	w := newWorld(t)
	a := tenant(t)
	happened(t, a, 0, 4)
	w.node.instead(func(method string, _ []json.RawMessage) (string, bool) { return "", method == "eth_sendRawTransaction" })
	_, err := w.anchor(t).Run(t.Context())
	says(t, err, "send transaction")
	w.node.well()
	noError(t, rpc(nil, "anvil_impersonateAccount", w.signer.Address().String()))
	noError(t, rpc(nil, "eth_sendTransaction", map[string]string{"from": w.signer.Address().String(), "to": w.signer.Address().String()}))
	noError(t, rpc(nil, "evm_mine"))
	w.finishes(t)
	once(t, w, a)
	proven(t, a, "pi_1", claim.Final, 2)
}

// Who is not the publisher is told before anything is sent; a transaction that
// reverts all the same is an error and not in flight any more.
func TestNotThePublisher(t *testing.T) {
	w := newWorld(t)
	publisher := w.signer
	w.signer = localKey(t, "0x"+strings.Repeat("78", 32))
	noError(t, rpc(nil, "anvil_setBalance", w.signer.Address().String(), "0xde0b6b3a7640000"))
	a := tenant(t)
	happened(t, a, 0, 4)
	_, err := w.anchor(t).Run(t.Context())
	says(t, err, "estimate gas")
	equal(t, "offers", w.node.asked("eth_sendRawTransaction"), 0)
	w.node.instead(func(method string, _ []json.RawMessage) (string, bool) {
		return `"result":"0x30d40"`, method == "eth_estimateGas"
	})
	_, err = w.anchor(t).Run(t.Context())
	says(t, err, "reverted")
	equal(t, "in flight", w.flight(t) == nil, true)
	w.node.well()
	w.signer = publisher
	w.finishes(t)
	once(t, w, a)
}

// A journal that somebody changed is not anchored, and keeps no other from it.
func TestBrokenJournal(t *testing.T) {
	w := newWorld(t)
	a, b := tenant(t), tenant(t)
	happened(t, a, 0, 4)
	happened(t, b, 0, 4)
	item, _, err := database.Table().Get(t.Context(), key.JournalEntry(a, 2))
	noError(t, err)
	item.Body = []byte(strings.ReplaceAll(string(item.Body), "tool_called", "tool_balled"))
	noError(t, database.Table().Commit(t.Context(), record.Change{Puts: []record.Put{{Item: item, Blind: true}}}))
	report := w.runs(t)
	equal(t, "broken", report.Broken, 1)
	equal(t, "published", report.Published, 1)
	proven(t, a, "pi_1", "", 2)
	proven(t, b, "pi_1", claim.Pending, 2)
	found, err := checker.Store(t.Context(), database.Table(), a)
	noError(t, err)
	equal(t, "the checker's fault", found.Fault.Seq, 2)
}
