package contract_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/functions/anchor/contract"
	"github.com/robotmoney/mcp/infra/contracts"
	"github.com/robotmoney/mcp/shared/domain/anchor"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

// node answers each method with a text: an object with a code is an error.
type node map[string]string

func (n node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	_ = json.NewDecoder(r.Body).Decode(&q)
	kind, said := "result", n[q.Method]
	if strings.HasPrefix(said, `{"code":`) {
		kind = "error"
	}
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%q:%s}`, q.ID, kind, said)
}

// usual is a node where all is well.
func usual() node {
	return node{
		"eth_chainId": `"0x7a69"`, "eth_estimateGas": `"0x3e8"`, "eth_feeHistory": `{"baseFeePerGas":["0x5","0x64"],"reward":[["0x7a120000"]]}`,
		"eth_getTransactionCount": `"0x9"`, "eth_getBalance": `"0xde0b6b3a7640000"`, "eth_getTransactionByHash": `null`,
	}
}

var address = chain.Address{0x5f, 19: 0xa3}

func over(t *testing.T, n node) *contract.Contract {
	t.Helper()
	server := httptest.NewServer(n)
	t.Cleanup(server.Close)
	client, err := chain.New(chain.Config{Endpoints: []string{server.URL}, ChainID: 31337, Timeout: 5 * time.Second, Now: time.Now})
	noError(t, err)
	key, err := tx.NewLocalKey([32]byte{31: 7})
	noError(t, err)
	return contract.New(contract.Config{
		Client: client, Contract: address, Poll: time.Millisecond, Patience: 50 * time.Millisecond, FeeCap: big.NewInt(10e9),
		Signer: func(context.Context) (tx.Signer, error) { return key, nil },
	})
}

var root = anchor.Root{Tenant: identity.Hash{1}, Root: identity.Hash{2}, First: 3, Last: 7, Start: 1, End: 2}

// record is what anchorOf returns: eight words, the root first and the block last.
func record(first byte, block byte) string {
	words := make([]byte, 8*32)
	words[0], words[7*32+31] = first, block
	return `"` + chain.FormatData(words) + `"`
}

// log is one of a published root.
func log(change func(l map[string]any)) string {
	l := map[string]any{
		"address": address.String(), "transactionHash": identity.Hash{9},
		"topics": []identity.Hash{identity.Keccak([]byte("AnchorPublished(bytes32,bytes32,uint64,uint64,uint64)")), root.Tenant},
		"data":   chain.FormatData(append(root.Root[:], make([]byte, 96)...)),
	}
	if change != nil {
		change(l)
	}
	raw, _ := json.Marshal(l)
	return string(raw)
}

// Of a published root only what the contract can have said is believed.
func TestPublished(t *testing.T) {
	for name, c := range map[string]struct{ call, logs, says string }{
		"published":             {record(2, 5), "[" + log(nil) + "]", ""},
		"among others":          {record(2, 5), "[" + log(func(l map[string]any) { l["data"] = "0x" }) + "," + log(nil) + "]", ""},
		"no contract":           {`"0x"`, "", "is the contract at this address?"},
		"another root":          {record(3, 5), "", "another record"},
		"no block":              {record(2, 0), "", "another record"},
		"no log":                {record(2, 5), "[]", "no log of the root"},
		"no list":               {record(2, 5), `"x"`, "not what was asked for"},
		"another contract":      {record(2, 5), "[" + log(func(l map[string]any) { l["address"] = chain.Address{1}.String() }) + "]", "no log"},
		"another event":         {record(2, 5), "[" + log(func(l map[string]any) { l["topics"] = []identity.Hash{{1}, root.Tenant} }) + "]", "no log"},
		"another tenant":        {record(2, 5), "[" + log(func(l map[string]any) { l["topics"].([]identity.Hash)[1] = identity.Hash{8} }) + "]", "no log"},
		"another root's log":    {record(2, 5), "[" + log(func(l map[string]any) { l["data"] = "0x" + strings.Repeat("0", 256) }) + "]", "no log"},
		"the node has no logs":  {record(2, 5), `{"code":-32601,"message":"no such method"}`, "no such method"},
		"it is not a byte text": {`"0xzz"`, "", "hexadecimal"},
	} {
		n := usual()
		n["eth_call"], n["eth_getLogs"] = c.call, c.logs
		mined, err := over(t, n).Published(t.Context(), root)
		if c.says == "" {
			noError(t, err)
			if mined.Hash != (identity.Hash{9}) || mined.Block != 5 || mined.Published[root.Tenant] != root.Root {
				t.Errorf("%s: %+v", name, mined)
			}
			continue
		}
		if !says(err, c.says) {
			t.Errorf("%s: error %v, want one that says %q", name, err, c.says)
		}
	}
	n := usual()
	n["eth_call"] = record(0, 0)
	if mined, err := over(t, n).Published(t.Context(), root); mined != nil || err != nil {
		t.Errorf("%v, %v of a root that is not there", mined, err)
	}
}

// says tells whether an error, its causes included, says something.
func says(err error, words string) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if strings.Contains(fmt.Sprintf("%v", err), words) {
			return true
		}
	}
	return false
}

func TestReceipt(t *testing.T) {
	hash := identity.Hash{9}
	for name, c := range map[string]struct{ answer, says string }{
		"another's":     {`{"transactionHash":"` + identity.Hash{8}.String() + `","status":"0x1","blockNumber":"0x5"}`, "another transaction"},
		"no status":     {`{"transactionHash":"` + hash.String() + `","blockNumber":"0x5"}`, "status"},
		"no block":      {`{"transactionHash":"` + hash.String() + `","status":"0x1"}`, "quantity"},
		"not an object": {`7`, "not what was asked for"},
	} {
		n := usual()
		n["eth_getTransactionReceipt"] = c.answer
		if _, err := over(t, n).Find(t.Context(), hash); !says(err, c.says) {
			t.Errorf("%s: error %v, want one that says %q", name, err, c.says)
		}
	}
	n := usual()
	n["eth_getTransactionReceipt"] = `{"transactionHash":"` + hash.String() + `","status":"0x1","blockNumber":"0x5","logs":[` + log(nil) + `]}`
	mined, err := over(t, n).Wait(t.Context(), identity.Hash{9})
	noError(t, err)
	if mined.Reverted || mined.Block != 5 || mined.Published[root.Tenant] != root.Root {
		t.Errorf("%+v", mined)
	}
	n["eth_getTransactionReceipt"] = `null`
	if mined, err := over(t, n).Wait(t.Context(), hash); mined != nil || err != nil {
		t.Errorf("%v, %v of a transaction that does not come", mined, err)
	}
}

func TestSign(t *testing.T) {
	for name, c := range map[string]struct{ method, answer, says string }{
		"out of gas":       {"eth_estimateGas", `{"code":-32000,"message":"gas required exceeds allowance (16777216)"}`, anchor.ErrTooLarge.Error()},
		"above the cap":    {"eth_estimateGas", `"0xd00000"`, anchor.ErrTooLarge.Error()},
		"reverts":          {"eth_estimateGas", `{"code":3,"message":"execution reverted"}`, "execution reverted"},
		"no estimate":      {"eth_estimateGas", `7`, "not a string"},
		"gas is dear":      {"eth_feeHistory", `{"baseFeePerGas":["0x5","0x174876e800"]}`, "above the cap"},
		"no fee history":   {"eth_feeHistory", `{}`, "not what was asked for"},
		"a fee that isn't": {"eth_feeHistory", `{"baseFeePerGas":["0x5","0xx"]}`, "hexadecimal"},
		"no nonce":         {"eth_getTransactionCount", `null`, "quantity"},
		"poor":             {"eth_getBalance", `"0x1"`, "send it funds"},
		"no balance":       {"eth_getBalance", `7`, "not a string"},
	} {
		n := usual()
		n[c.method] = c.answer
		if _, err := over(t, n).Sign(t.Context(), []anchor.Root{root}, nil); !says(err, c.says) {
			t.Errorf("%s: error %v, want one that says %q", name, err, c.says)
		}
	}
	first, err := over(t, usual()).Sign(t.Context(), []anchor.Root{root}, nil)
	noError(t, err)
	if first.Nonce != 9 || first.Gas != 1250 {
		t.Errorf("signed %+v", first)
	}
	if selector := contracts.Anchor.Selectors["anchorBatch((bytes32,bytes32,uint64,uint64,uint64,uint64,uint64)[])"]; !strings.Contains(first.Raw, chain.FormatData(selector[:])[2:]) {
		t.Error("the transaction is no call of the contract's anchorBatch")
	}
	n := usual()
	n["eth_getTransactionCount"], n["eth_estimateGas"] = `"0x7"`, `"0x1"`
	second, err := over(t, n).Sign(t.Context(), []anchor.Root{root}, &first)
	noError(t, err)
	before, after := new(big.Int), new(big.Int)
	before.SetString(first.Fee, 10)
	after.SetString(second.Fee, 10)
	if second.Nonce != 9 || second.Gas != 1250 || after.Cmp(new(big.Int).Div(new(big.Int).Mul(before, big.NewInt(5)), big.NewInt(4))) <= 0 {
		t.Errorf("replaced %+v by %+v", first, second)
	}
}

func TestOffer(t *testing.T) {
	signed, err := over(t, usual()).Sign(t.Context(), []anchor.Root{root}, nil)
	noError(t, err)
	known := `{"hash":"` + signed.Hash.String() + `"}`
	for name, c := range map[string]struct {
		send, known string
		spent       bool
		says        string
	}{
		"taken":               {`"` + signed.Hash.String() + `"`, `null`, false, ""},
		"known":               {`{"code":-32000,"message":"already known"}`, known, false, ""},
		"mined before":        {`{"code":-32000,"message":"nonce too low"}`, known, false, ""},
		"spent":               {`{"code":-32000,"message":"Nonce too low"}`, `null`, true, ""},
		"refused":             {`{"code":-32000,"message":"insufficient funds"}`, `null`, false, "insufficient funds"},
		"another's hash":      {`"` + identity.Hash{1}.String() + `"`, `null`, false, "another transaction"},
		"nobody knows":        {`{"code":-32000,"message":"nonce too low"}`, `{"code":-1,"message":"away"}`, false, "nonce too low"},
		"knows something":     {`{"code":-32000,"message":"busy"}`, `{"hash":"` + identity.Hash{1}.String() + `"}`, false, "busy"},
		"says nothing useful": {`7`, `7`, false, "another transaction's hash"},
	} {
		n := usual()
		n["eth_sendRawTransaction"], n["eth_getTransactionByHash"] = c.send, c.known
		err := over(t, n).Offer(t.Context(), signed)
		switch {
		case errors.Is(err, anchor.ErrSpent) != c.spent:
			t.Errorf("%s: error %v", name, err)
		case !c.spent && c.says == "" && err != nil, c.says != "" && !says(err, c.says):
			t.Errorf("%s: error %v, want one that says %q", name, err, c.says)
		}
	}
}

func TestFinalized(t *testing.T) {
	n := usual()
	n["eth_getBlockByNumber"] = `{"number":"0x10"}`
	number, err := over(t, n).Finalized(t.Context())
	noError(t, err)
	if number != 16 {
		t.Errorf("finalized %d", number)
	}
	for _, answer := range []string{`null`, `{}`, `7`, `{"code":-39001,"message":"finalized block not found"}`} {
		n["eth_getBlockByNumber"] = answer
		if _, err := over(t, n).Finalized(t.Context()); err == nil {
			t.Errorf("no error of %s", answer)
		}
	}
}
