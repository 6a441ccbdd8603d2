package main

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/execution"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

// onchain wires the function with the company's token.
func onchain(t *testing.T) *world {
	t.Helper()
	c, err := acme()
	noError(t, err)
	return begin(t, map[string]string{"TOKEN_ADDRESS": c.token.String(), "RAIL_KEY": rich})
}

// stored is an item of the table, decoded.
func stored[T any](w *world, k key.Key) (v T) {
	w.t.Helper()
	item, found, err := w.consumer.executor.Store.Get(w.t.Context(), k)
	noError(w.t, err)
	equal(w.t, "the item is there", found, true)
	noError(w.t, json.Unmarshal(item.Body, &v))
	return v
}

// prepared is the transfer that was made for an intent.
func (w *world) prepared(intent string) (p struct {
	Nonce     uint64
	Hash, Raw string
}) {
	w.t.Helper()
	r := stored[execution.Record](w, key.Execution(w.tenant, execution.NameOf(intent)))
	noError(w.t, json.Unmarshal(r.Order.Prepared, &p))
	return p
}

// arrived looks at a transfer that was made once: on the chain and in the ledger.
func (w *world) arrived(intent string, tokens int64) {
	w.t.Helper()
	t := w.t
	equal(t, "status", w.status(intent), proposals.Executed)
	equal(t, "tokens", w.tokens(), tokens)
	x := stored[ledger.Transaction](w, key.Ledger(w.tenant, id.Transaction, "tx_"+intent[3:]))
	equal(t, "hash in the ledger", *x.ChainTxHash, w.prepared(intent).Hash)
	equal(t, "told after", len(w.carried(execution.EventAfter, intent)), 1)
}

func TestTransfer(t *testing.T) {
	w := onchain(t)
	intent := w.propose(payments.OnchainTransfer, "1.5")
	body := w.approval(intent, nil)
	equal(t, "failed", w.deliver(body), "[]")
	w.arrived(intent, 1_500_000)
	equal(t, "failed when it comes again", w.deliver(body, body), "[]")
	w.arrived(intent, 1_500_000)
}

// An answer of the chain that is lost, or a call it never had, leaves a transfer
// that is the same one later, byte for byte, and moves the money once.
func TestTransferIsSentAgainAsItIs(t *testing.T) {
	for name, c := range map[string]struct {
		lose, drop string
	}{
		"the answer to the offer is lost": {lose: "eth_sendRawTransaction"},
		"the offer never arrives":         {drop: "eth_sendRawTransaction"},
		"no receipt can be read":          {drop: "eth_getTransactionReceipt"},
	} {
		t.Run(name, func(t *testing.T) {
			w := onchain(t)
			intent := w.propose(payments.OnchainTransfer, "2")
			body := w.approval(intent, nil)
			w.node.lose[c.lose], w.node.drop[c.drop] = 1, 1
			first := w.deliver(body)
			signed := w.prepared(intent).Raw
			if name != "the answer to the offer is lost" { // there the chain says that it knows the transfer
				equal(t, "failed", first, "[0]")
				equal(t, "status", w.status(intent), proposals.Dispatching)
				equal(t, "alarm", strings.Contains(w.out.String(), `"RailUnknown":1`), true)
			}
			equal(t, "failed later", w.deliver(body), "[]")
			equal(t, "the same bytes", w.prepared(intent).Raw, signed)
			w.arrived(intent, 2_000_000)
		})
	}
}

// Transfers at once have nonces of their own, and all of them arrive.
func TestTransfersAtOnce(t *testing.T) {
	w := onchain(t)
	var intents, bodies []string
	for _, amount := range []string{"1", "2", "4", "8"} {
		intent := w.propose(payments.OnchainTransfer, amount)
		intents, bodies = append(intents, intent), append(bodies, w.approval(intent, nil))
	}
	var group sync.WaitGroup
	for _, body := range bodies { // each twice, in batches of its own
		for range 2 {
			group.Go(func() {
				for range 5 {
					if w.deliver(body) == "[]" {
						return
					}
				}
				t.Error("a transfer comes to no end")
			})
		}
	}
	group.Wait()
	nonces := map[uint64]bool{}
	for _, intent := range intents {
		nonces[w.prepared(intent).Nonce] = true
		equal(t, "status", w.status(intent), proposals.Executed)
	}
	equal(t, "nonces", len(nonces), len(intents))
	equal(t, "tokens", w.tokens(), int64(15_000_000))
}

// another wires the function with a token of the test's own.
func another(t *testing.T) *world {
	t.Helper()
	c, err := acme()
	noError(t, err)
	token, err := deployToken(t.Context(), c.owner)
	noError(t, err)
	w := begin(t, map[string]string{"TOKEN_ADDRESS": token.String(), "RAIL_KEY": rich})
	w.token = token
	return w
}

// call sends a call of the token as who owns it.
func (w *world) call(data []byte) {
	w.t.Helper()
	_, err := w.owner.Do(w.t.Context(), &w.token, data)
	noError(w.t, err)
}

// breakToken has the token refuse everybody. Its owner cannot say so: the transfer
// that waits has the owner's next nonce.
func (w *world) breakToken() {
	w.t.Helper()
	err := w.sender.Client().Read(w.t.Context(), func(json.RawMessage) error { return nil }, "anvil_setCode", w.token.String(), "0x5f5ffd")
	noError(w.t, err)
}

// What the token would refuse is refused before anything is sent, and the intent
// fails with the reason.
func TestTransferTheTokenRefuses(t *testing.T) {
	w := another(t)
	w.call(tx.Function("transfer(address,uint256)").Address(identity.Address{1}).Uint(1_000_000_000).Encode()) // all there is
	intent := w.propose(payments.OnchainTransfer, "3")
	equal(t, "failed", w.deliver(w.approval(intent, nil)), "[]")
	equal(t, "status", w.status(intent), proposals.Failed)
	told := w.carried(execution.EventFailed, intent)
	equal(t, "told", len(told), 1)
	raw, err := json.Marshal(told[0])
	noError(t, err)
	if !strings.Contains(string(raw), "the token's contract would revert the transfer") {
		t.Errorf("the event does not say why: %s", raw)
	}
}

// A transfer that the chain reverts is refused for good: its tokens left while it
// was on its way.
func TestTransferThatReverts(t *testing.T) {
	w := another(t)
	intent := w.propose(payments.OnchainTransfer, "3")
	body := w.approval(intent, nil)
	w.node.drop["eth_sendRawTransaction"] = 1
	equal(t, "failed", w.deliver(body), "[0]")
	w.breakToken()
	equal(t, "failed later", w.deliver(body), "[]")
	equal(t, "status", w.status(intent), proposals.Failed)
	after := w.carried(execution.EventAfter, intent)
	equal(t, "told after", len(after), 1)
	raw, err := json.Marshal(after[0])
	noError(t, err)
	if !strings.Contains(string(raw), "reverted the transfer") {
		t.Errorf("the event does not say why: %s", raw)
	}
}

// A token that takes the call and moves nothing has not paid and has not refused.
func TestTokenThatSaysNothing(t *testing.T) {
	w := another(t)
	w.call(tx.Function("setSilent(bool)").Bool(true).Encode())
	intent := w.propose(payments.OnchainTransfer, "3")
	equal(t, "failed", w.deliver(w.approval(intent, nil)), "[0]")
	equal(t, "status", w.status(intent), proposals.Dispatching)
	equal(t, "tokens", w.tokens(), int64(0))
	equal(t, "alarm", strings.Contains(w.out.String(), `"RailUnknown":1`), true)
}
