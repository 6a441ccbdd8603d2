package tx_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

// expected is the hash of the transaction that the node's numbers lead to.
func expected(t *testing.T, gas uint64, tip, maxFee int64, data []byte) identity.Hash {
	t.Helper()
	want := tx.Transaction{
		ChainID: 31337, Nonce: 9, Tip: big.NewInt(tip), MaxFee: big.NewInt(maxFee), Gas: gas, To: &contract, Data: data,
	}
	r, s, v, err := localKey(t, anvilKey).Sign(t.Context(), want.Digest())
	ok(t, err)
	return identity.Keccak(want.Signed(tx.Signature{R: r, S: s, V: v}))
}

func TestSendFillsInGasFeesAndNonce(t *testing.T) {
	for _, test := range []struct {
		name        string
		script      map[string]string
		gas         uint64
		tip, maxFee int64
	}{
		{"as usual", nil, 1250, 3, 203},
		{"no tip method", map[string]string{"eth_maxPriorityFeePerGas": failure(-32601, "no such method", "null")}, 1250, 7, 207},
		{"tip without history", map[string]string{"eth_feeHistory": `{"baseFeePerGas":["0x5","0x64"]}`}, 1250, 3, 203},
		{"capped", map[string]string{"eth_feeHistory": `{"baseFeePerGas":["0x5","0x3e0"]}`}, 1250, 3, 1000},
		{"free", map[string]string{"eth_feeHistory": `{"baseFeePerGas":["0x0","0x0"]}`, "eth_maxPriorityFeePerGas": `"0x0"`}, 1250, 0, 0},
		{"a node between two blocks", map[string]string{"eth_feeHistory": `{"baseFeePerGas":["0x64"]}`, "eth_maxPriorityFeePerGas": `"0x3"`}, 1250, 3, 203},
		{"a quarter more is too much", map[string]string{"eth_estimateGas": `"0xffffff"`}, 1 << 24, 3, 203},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := newNode(t)
			for method, answer := range test.script {
				n.say(method, answer)
			}
			hash, err := transactor(t, nil, n).Send(t.Context(), &contract, []byte{1, 2})
			ok(t, err)
			equal(t, hash, expected(t, test.gas, test.tip, test.maxFee, []byte{1, 2}), "transaction")
			count := n.asked("eth_getTransactionCount")[0]
			equal(t, string(count[0])+string(count[1]), `"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266""pending"`, "nonce of")
			equal(t, len(n.asked("eth_sendRawTransaction")), 1, "transactions sent")
		})
	}
}

func TestSendRefusesBeforeSigning(t *testing.T) {
	for _, test := range []struct {
		name, method, answer string
		words                []string
	}{
		{"fees above the cap", "eth_feeHistory", `{"baseFeePerGas":["0x5","0x3e6"]}`, []string{"above the cap of 1000"}},
		{"tip above the cap", "eth_maxPriorityFeePerGas", `"0x10000000000000000000"`, []string{"above the cap"}},
		{"fee is no number", "eth_feeHistory", `{"baseFeePerGas":["0x5","0x-1"]}`, []string{"fee history", "quantity"}},
		{"fee with an underscore", "eth_feeHistory", `{"baseFeePerGas":["0x5","0x1_0"]}`, []string{"fee history", "quantity"}},
		{"no base fee", "eth_feeHistory", `{"baseFeePerGas":[]}`, []string{"want 2"}},
		{"history is null", "eth_feeHistory", `null`, []string{"want 2"}},
		{"gas above what a block takes", "eth_estimateGas", `"0x1000001"`, []string{"estimate gas", "above"}},
		{"gas is null", "eth_estimateGas", `null`, []string{"estimate gas", "quantity"}},
		{"nonce is garbage", "eth_getTransactionCount", `"nine"`, []string{"read the nonce", "quantity"}},
		{"no money", "eth_estimateGas", failure(-32000, "insufficient funds", "null"), []string{"estimate gas", "insufficient funds"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := newNode(t)
			n.say(test.method, test.answer)
			hash, err := transactor(t, nil, n).Send(t.Context(), &contract, nil)
			fails(t, err, test.words...)
			equal(t, hash, identity.Hash{}, "hash")
			equal(t, len(n.asked("eth_sendRawTransaction")), 0, "transactions sent")
		})
	}
}

func text(words string) string {
	length := new(tx.Args).Bytes([]byte(words)).Encode()
	return chain.FormatData(append([]byte{0x08, 0xc3, 0x79, 0xa0}, length...))
}

func TestForeseenRevertIsNamed(t *testing.T) {
	custom := chain.Selector("LastSigner(bytes32)")
	panicked := chain.FormatData(append([]byte{0x4e, 0x48, 0x7b, 0x71}, new(tx.Args).Uint(0x11).Encode()...))
	for _, test := range []struct{ name, answer, want string }{
		{"text", failure(3, "execution reverted", `"`+text("not today")+`"`), `"not today"`},
		{"text cut short", failure(3, "execution reverted", `"`+text("not today")[:150]+`"`), "custom error 0x08c379a0"},
		{"panic", failure(3, "execution reverted", `"`+panicked+`"`), "panic 0x11"},
		{"custom", failure(3, "execution reverted", `"`+chain.FormatData(custom[:])+`"`), "LastSigner(bytes32)"},
		{"unknown custom", failure(3, "execution reverted", `"0x12345678"`), "custom error 0x12345678"},
		{"data within an object", failure(-32015, "VM error", `{"data":"`+text("wrapped")+`"}`), `"wrapped"`},
		{"no data", failure(-32000, "execution reverted", `null`), `the node says "execution reverted"`},
		{"empty data", failure(3, "", `"0x"`), "no reason was given"},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := newNode(t)
			n.say("eth_estimateGas", test.answer)
			made := transactor(t, func(c *tx.Config) { c.Reverts = tx.RegistryReverts }, n)
			_, err := made.Send(t.Context(), &contract, nil)
			var revert *tx.RevertError
			if !errors.As(err, &revert) {
				t.Fatalf("got error %v, want a revert", err)
			}
			equal(t, revert.Reason, test.want, "reason")
			equal(t, fault.Is(err, fault.OnchainUnavailable), false, "says that the chain is unavailable")
		})
	}
}

// A node that took the transaction may say otherwise: the reply was lost and the
// repeated request is refused, or another node passed it on first.
func TestRefusedTransactionThatIsKnownIsSent(t *testing.T) {
	for _, refusal := range []string{failure(-32000, "already known", "null"), failure(-32000, "nonce too low", "null")} {
		n := newNode(t)
		n.say("eth_sendRawTransaction", refusal)
		n.hear("eth_getTransactionByHash", func(params []json.RawMessage) string {
			return fmt.Sprintf(`{"hash":%s}`, params[0])
		})
		hash, err := transactor(t, nil, n).Send(t.Context(), &contract, nil)
		ok(t, err)
		equal(t, hash, expected(t, 1250, 3, 203, nil), "transaction")
	}
}

func TestRefusedTransactionKeepsItsHash(t *testing.T) {
	for _, test := range []struct{ name, sent, found string }{
		{"unknown", failure(-32000, "nonce too low", "null"), `null`},
		{"another transaction's hash", quoted(identity.Hash{1}), `null`},
		{"another transaction found", failure(-32000, "nonce too low", "null"), `{"hash":` + quoted(identity.Hash{1}) + `}`},
		{"not found out", failure(-32000, "nonce too low", "null"), failure(-32000, "busy", "null")},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := newNode(t)
			n.say("eth_sendRawTransaction", test.sent)
			n.say("eth_getTransactionByHash", test.found)
			hash, err := transactor(t, nil, n).Send(t.Context(), &contract, nil)
			fails(t, err, "send transaction "+hash.String())
			equal(t, hash, expected(t, 1250, 3, 203, nil), "transaction")
		})
	}
}

// Sends at the same time get a nonce each.
func TestSendsWaitForEachOther(t *testing.T) {
	n := newNode(t)
	var pool sync.Map
	var size int
	n.hear("eth_getTransactionCount", func([]json.RawMessage) string {
		n.mu.Lock()
		defer n.mu.Unlock()
		return fmt.Sprintf(`"0x%x"`, size)
	})
	n.hear("eth_sendRawTransaction", func(params []json.RawMessage) string {
		hash := hashOf(params[0])
		n.mu.Lock()
		size++
		n.mu.Unlock()
		pool.Store(hash, true)
		return quoted(hash)
	})
	made := transactor(t, nil, n)
	var group sync.WaitGroup
	for range 12 {
		group.Go(func() {
			if _, err := made.Send(t.Context(), &contract, nil); err != nil {
				t.Errorf("send: %v", err)
			}
		})
	}
	group.Wait()
	different := 0
	pool.Range(func(any, any) bool { different++; return true })
	equal(t, different, 12, "different transactions")
}

const receiptOf = `{"transactionHash":%q,"status":%q,"blockNumber":"0x10","gasUsed":"0x5208","contractAddress":%s}`

func TestWait(t *testing.T) {
	hash := identity.Keccak([]byte("transaction"))
	good := fmt.Sprintf(receiptOf, hash, "0x1", "null")
	for _, test := range []struct {
		name    string
		answers []string // one a look, the last for ever
		looks   int
	}{
		{"at once", []string{good}, 1},
		{"later", []string{"null", "null", good}, 3},
		{"an endpoint fails meanwhile", []string{failure(-32000, "busy", "null"), good}, 2},
		{"another receipt", []string{fmt.Sprintf(receiptOf, identity.Hash{1}, "0x1", "null"), good}, 2},
		{"no status", []string{fmt.Sprintf(receiptOf, hash, "", "null"), good}, 2},
		{"no block", []string{strings.Replace(good, `"0x10"`, `null`, 1), good}, 2},
		{"not a receipt", []string{`"0x1"`, good}, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			n, look := newNode(t), 0
			n.hear("eth_getTransactionReceipt", func([]json.RawMessage) string {
				look++
				return test.answers[min(look, len(test.answers))-1]
			})
			receipt, err := transactor(t, nil, n).Wait(t.Context(), hash)
			ok(t, err)
			equal(t, receipt, tx.Receipt{Hash: hash, Block: 16, GasUsed: 21000}, "receipt")
			equal(t, len(n.asked("eth_getTransactionReceipt")), test.looks, "looks")
		})
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	n := newNode(t)
	n.say("eth_getTransactionReceipt", "null")
	for _, hash := range []identity.Hash{{}, {1}} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		receipt, err := transactor(t, nil, n).Wait(ctx, hash)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got error %v, want the deadline", err)
		}
		equal(t, receipt, tx.Receipt{Hash: hash}, "receipt")
	}
}

func TestRevertInABlockIsNamed(t *testing.T) {
	hash := identity.Keccak([]byte("transaction"))
	known := fmt.Sprintf(`{"hash":%q,"from":%q,"to":%q,"gas":"0x5208","input":"0x0102"}`, hash, contract, contract)
	for _, test := range []struct{ name, transaction, call, want string }{
		{"text", known, failure(3, "execution reverted", `"`+text("too late")+`"`), `"too late"`},
		{"out of gas", known, failure(-32000, "out of gas", "null"), `the node says "out of gas"`},
		{"it would succeed by now", known, `"0x"`, "no reason is known"},
		{"the transaction is gone", "null", `"0x"`, "no reason is known"},
		{"the node does not tell", failure(-32000, "busy", "null"), `"0x"`, "no reason is known"},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := newNode(t)
			n.say("eth_getTransactionReceipt", fmt.Sprintf(receiptOf, hash, "0x0", "null"))
			n.say("eth_getTransactionByHash", test.transaction)
			n.say("eth_call", test.call)
			receipt, err := transactor(t, nil, n).Wait(t.Context(), hash)
			var revert *tx.RevertError
			if !errors.As(err, &revert) {
				t.Fatalf("got error %v, want a revert", err)
			}
			equal(t, revert.Reason, test.want, "reason")
			equal(t, revert.Hash, hash, "transaction")
			equal(t, receipt.Block, 16, "block")
			if calls := n.asked("eth_call"); len(calls) > 0 {
				equal(t, string(calls[0][1]), `"0x10"`, "block of the call")
			}
		})
	}
}

func TestDeploy(t *testing.T) {
	for _, test := range []struct{ name, created, want string }{
		{"created", `"` + contract.String() + `"`, ""},
		{"no contract", `null`, "names no contract"},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := newNode(t)
			n.hear("eth_getTransactionReceipt", func(params []json.RawMessage) string {
				return fmt.Sprintf(strings.Replace(receiptOf, "%q", "%s", 1), params[0], "0x1", test.created)
			})
			got, _, err := transactor(t, nil, n).Deploy(t.Context(), []byte{0x60})
			if test.want != "" {
				fails(t, err, test.want)
				return
			}
			ok(t, err)
			equal(t, got, contract, "contract")
			if call := string(n.asked("eth_estimateGas")[0][0]); strings.Contains(call, `"to"`) {
				t.Fatalf("the creation has a recipient: %s", call)
			}
		})
	}
}

func TestNewTransactorRefuses(t *testing.T) {
	client, err := chain.New(chain.Config{Endpoints: []string{"http://127.0.0.1"}, ChainID: 1, Now: time.Now})
	ok(t, err)
	for _, config := range []tx.Config{
		{Signer: localKey(t, anvilKey), Poll: time.Second},
		{Client: client, Poll: time.Second},
		{Client: client, Signer: localKey(t, anvilKey)},
	} {
		_, err := tx.NewTransactor(config)
		fails(t, err, "transactor")
	}
}
