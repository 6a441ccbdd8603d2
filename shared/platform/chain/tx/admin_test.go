package tx_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

// tenantKey signs for the tenant; anvilKey sends and pays.
const tenantKey = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d"

var registered = tx.Agent{
	ID: identity.AgentHash("acme", "agent_1"), Address: chain.Address{7}, TenantID: identity.TenantHash("acme"),
	ScopeHash: identity.Keccak([]byte("ledger:read")), BehaviorHash: identity.Keccak([]byte("behaviour")),
}

// registry makes n answer as a registry in which the tenant has nonce 7, the
// tenant's key may sign or not, and the registered agent stands.
func registry(n *node, signs bool) {
	views := map[[4]byte]*tx.Args{
		chain.Selector("nonces(bytes32)"):                 new(tx.Args).Uint(7),
		chain.Selector("isTenantSigner(bytes32,address)"): new(tx.Args).Bool(signs),
		chain.Selector("getAgent(bytes32)"): new(tx.Args).Bytes32(registered.ID).Address(registered.Address).
			Bytes32(registered.TenantID).Bytes32(registered.ScopeHash).Bytes32(registered.BehaviorHash).Uint(1000).Uint(0),
	}
	n.hear("eth_call", func(params []json.RawMessage) string {
		return `"` + chain.FormatData(views[[4]byte(called(params[0]))].Encode()) + `"`
	})
	n.hear("eth_getTransactionReceipt", func(params []json.RawMessage) string {
		return fmt.Sprintf(strings.Replace(receiptOf, "%q", "%s", 1), params[0], "0x1", "null")
	})
}

// called is the data of a call object.
func called(call json.RawMessage) []byte {
	var fields struct{ Data json.RawMessage }
	if err := json.Unmarshal(call, &fields); err != nil {
		return nil
	}
	data, _ := chain.ParseData(fields.Data)
	return data
}

func TestAdminSignsAsTheTenantAndSends(t *testing.T) {
	domain := tx.Domain{ChainID: 31337, Contract: contract}
	key := localKey(t, tenantKey)
	newcomer, behaviour := chain.Address{9}, identity.Hash{8}
	signed := func(digest identity.Hash) []byte {
		r, s, v, err := key.Sign(t.Context(), digest)
		ok(t, err)
		return tx.Signature{R: r, S: s, V: v}.Bytes()
	}
	a := registered
	for _, test := range []struct {
		name  string
		signs bool
		do    func(admin *tx.RegistryAdmin) (tx.Receipt, error)
		want  *tx.Args
	}{
		{"first signer", false, func(admin *tx.RegistryAdmin) (tx.Receipt, error) {
			return admin.SetTenantSigner(t.Context(), a.TenantID, newcomer, true)
		}, tx.Function("setTenantSigner(bytes32,address,bool,bytes)").Bytes32(a.TenantID).Address(newcomer).Bool(true).Bytes(nil)},
		{"another signer", true, func(admin *tx.RegistryAdmin) (tx.Receipt, error) {
			return admin.SetTenantSigner(t.Context(), a.TenantID, newcomer, false)
		}, tx.Function("setTenantSigner(bytes32,address,bool,bytes)").Bytes32(a.TenantID).Address(newcomer).Bool(false).
			Bytes(signed(domain.SetTenantSigner(a.TenantID, newcomer, false, 7)))},
		{"register", true, func(admin *tx.RegistryAdmin) (tx.Receipt, error) {
			return admin.RegisterAgent(t.Context(), a)
		}, tx.Function("registerAgent(bytes32,address,bytes32,bytes32,bytes32,bytes)").Bytes32(a.ID).Address(a.Address).
			Bytes32(a.TenantID).Bytes32(a.ScopeHash).Bytes32(a.BehaviorHash).Bytes(signed(domain.RegisterAgent(a, 7)))},
		{"update", true, func(admin *tx.RegistryAdmin) (tx.Receipt, error) {
			return admin.UpdateBehaviorHash(t.Context(), a.ID, behaviour)
		}, tx.Function("updateBehaviorHash(bytes32,bytes32,bytes)").Bytes32(a.ID).Bytes32(behaviour).
			Bytes(signed(domain.UpdateBehaviorHash(a.ID, behaviour, 7)))},
		{"revoke", true, func(admin *tx.RegistryAdmin) (tx.Receipt, error) {
			return admin.RevokeAgent(t.Context(), a.ID)
		}, tx.Function("revokeAgent(bytes32,bytes)").Bytes32(a.ID).Bytes(signed(domain.RevokeAgent(a.ID, 7)))},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := newNode(t)
			registry(n, test.signs)
			receipt, err := test.do(tx.NewRegistryAdmin(transactor(t, nil, n), contract, key))
			ok(t, err)
			equal(t, receipt.Block, 16, "block")
			equal(t, len(n.asked("eth_sendRawTransaction")), 1, "transactions sent")
			data := called(n.asked("eth_estimateGas")[0][0])
			equal(t, hex.EncodeToString(data), hex.EncodeToString(test.want.Encode()), "call")
		})
	}
}

func TestAdminSendsNothingOnADoubtfulAnswer(t *testing.T) {
	unknown := make([]byte, 224)
	for _, test := range []struct{ name, answer, want string }{
		{"no code", `"0x"`, "is the registry at this address?"},
		{"agent unknown", `"` + chain.FormatData(unknown) + `"`, "no agent"},
		{"reverted", failure(3, "execution reverted", `"0x"`), "execution reverted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := newNode(t)
			n.say("eth_call", test.answer)
			admin := tx.NewRegistryAdmin(transactor(t, nil, n), contract, localKey(t, tenantKey))
			_, err := admin.RevokeAgent(t.Context(), registered.ID)
			fails(t, err, "revoke agent", test.want)
			_, err = admin.UpdateBehaviorHash(t.Context(), registered.ID, identity.Hash{})
			fails(t, err, "update the behaviour", test.want)
			equal(t, len(n.asked("eth_sendRawTransaction")), 0, "transactions sent")
		})
	}
}

func TestViewsRefuseWhatTheContractCannotSay(t *testing.T) {
	word := chain.FormatData(new(tx.Args).Uint(2).Encode())
	wide := "0x" + strings.Repeat("0", 47) + "1" + strings.Repeat("0", 16)
	for _, answer := range []string{"0x", word[:64], word + "00", wide} {
		n := newNode(t)
		n.say("eth_call", `"`+answer+`"`)
		admin := tx.NewRegistryAdmin(transactor(t, nil, n), contract, localKey(t, tenantKey))
		_, err := admin.Nonce(t.Context(), registered.TenantID)
		fails(t, err, "read the nonce")
		_, err = admin.RegisterAgent(t.Context(), registered)
		fails(t, err, "register agent")
		_, err = admin.SetTenantSigner(t.Context(), registered.TenantID, contract, true)
		fails(t, err, "set a signer")
	}
	n := newNode(t)
	n.say("eth_call", `"`+word+`"`)
	admin := tx.NewRegistryAdmin(transactor(t, nil, n), contract, localKey(t, tenantKey))
	_, err := admin.IsTenantSigner(t.Context(), registered.TenantID, contract)
	fails(t, err, "no bool")
}
