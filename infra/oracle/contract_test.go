package oracle_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

// The registry's functions, written here from their signatures and not from the
// compiler's artefact: the two must agree.
const registryABI = `[
{"type":"function","name":"setTenantSigner","inputs":[{"name":"t","type":"bytes32"},{"name":"s","type":"address"},{"name":"a","type":"bool"},{"name":"g","type":"bytes"}]},
{"type":"function","name":"registerAgent","inputs":[{"name":"i","type":"bytes32"},{"name":"a","type":"address"},{"name":"t","type":"bytes32"},{"name":"s","type":"bytes32"},{"name":"b","type":"bytes32"},{"name":"g","type":"bytes"}]},
{"type":"function","name":"updateBehaviorHash","inputs":[{"name":"i","type":"bytes32"},{"name":"b","type":"bytes32"},{"name":"g","type":"bytes"}]},
{"type":"function","name":"revokeAgent","inputs":[{"name":"i","type":"bytes32"},{"name":"g","type":"bytes"}]},
{"type":"function","name":"nonces","inputs":[{"name":"t","type":"bytes32"}]},
{"type":"function","name":"isTenantSigner","inputs":[{"name":"t","type":"bytes32"},{"name":"s","type":"address"}]},
{"type":"function","name":"anchorBatch","inputs":[{"name":"a","type":"tuple[]","components":[{"name":"tenantId","type":"bytes32"},{"name":"eventCount","type":"uint64"},{"name":"by","type":"address"},{"name":"last","type":"bool"}]},{"name":"g","type":"bytes"}]},
{"type":"function","name":"getAgent","inputs":[{"name":"i","type":"bytes32"}],"outputs":[{"name":"r","type":"tuple","components":[{"name":"agentId","type":"bytes32"},{"name":"agentAddress","type":"address"},{"name":"tenantId","type":"bytes32"},{"name":"scopeHash","type":"bytes32"},{"name":"behaviorHash","type":"bytes32"},{"name":"registeredAt","type":"uint256"},{"name":"revokedAt","type":"uint256"}]}]}
]`

// item is one element of anchorBatch above, named as go-ethereum expects.
type item struct {
	TenantId   [32]byte
	EventCount uint64
	By         common.Address
	Last       bool
}

// record is what getAgent returns, named as go-ethereum expects.
type record struct {
	AgentId      [32]byte
	AgentAddress common.Address
	TenantId     [32]byte
	ScopeHash    [32]byte
	BehaviorHash [32]byte
	RegisteredAt *big.Int
	RevokedAt    *big.Int
}

func TestCalls(t *testing.T) {
	theirs, err := abi.JSON(strings.NewReader(registryABI))
	ok(t, err)
	s := newSource(5)
	for range cases {
		agent, tenant, scope, behaviour := s.hash(), s.hash(), s.hash(), s.hash()
		who, flag, signature := s.address(), s.IntN(2) == 1, s.bytes(s.IntN(100))
		account := common.Address(who)
		for _, call := range []struct {
			name string
			ours *tx.Args
			args []any
		}{
			{"setTenantSigner", tx.Function("setTenantSigner(bytes32,address,bool,bytes)").Bytes32(tenant).Address(who).Bool(flag).Bytes(signature),
				[]any{tenant, account, flag, signature}},
			{"registerAgent", tx.Function("registerAgent(bytes32,address,bytes32,bytes32,bytes32,bytes)").
				Bytes32(agent).Address(who).Bytes32(tenant).Bytes32(scope).Bytes32(behaviour).Bytes(signature),
				[]any{agent, account, tenant, scope, behaviour, signature}},
			{"updateBehaviorHash", tx.Function("updateBehaviorHash(bytes32,bytes32,bytes)").Bytes32(agent).Bytes32(behaviour).Bytes(signature),
				[]any{agent, behaviour, signature}},
			{"revokeAgent", tx.Function("revokeAgent(bytes32,bytes)").Bytes32(agent).Bytes(signature), []any{agent, signature}},
			{"nonces", tx.Function("nonces(bytes32)").Bytes32(tenant), []any{tenant}},
			{"isTenantSigner", tx.Function("isTenantSigner(bytes32,address)").Bytes32(tenant).Address(who), []any{tenant, account}},
		} {
			want, err := theirs.Pack(call.name, call.args...)
			ok(t, err)
			same(t, call.ours.Encode(), want, call.name)
		}
	}
}

func TestArrayBeforeBytes(t *testing.T) {
	theirs, err := abi.JSON(strings.NewReader(registryABI))
	ok(t, err)
	s := newSource(6)
	for range cases {
		items, ours := []item{}, new(tx.Args)
		for range s.IntN(6) {
			i := item{s.hash(), s.number(), common.Address(s.address()), s.IntN(2) == 1}
			items = append(items, i)
			ours.Bytes32(i.TenantId).Uint(i.EventCount).Address(chain.Address(i.By)).Bool(i.Last)
		}
		trailing := s.bytes(s.IntN(70))
		want, err := theirs.Pack("anchorBatch", items, trailing)
		ok(t, err)
		got := tx.Function("anchorBatch((bytes32,uint64,address,bool)[],bytes)").Array(len(items), ours).Bytes(trailing).Encode()
		same(t, got, want, "anchorBatch")
	}
}

func TestAgentRecord(t *testing.T) {
	theirs, err := abi.JSON(strings.NewReader(registryABI))
	ok(t, err)
	s := newSource(7)
	for range cases {
		want := identity.Registration{
			AgentID: s.hash(), Address: s.address(), TenantID: s.hash(), ScopeHash: s.hash(), BehaviorHash: s.hash(),
			RegisteredAt: 1 + s.number()>>1,
		}
		if s.IntN(2) == 1 {
			want.RevokedAt = want.RegisteredAt + s.number()>>1
		}
		if (want.TenantID == identity.Hash{}) {
			continue // the contract cannot hold it and the decoder refuses it
		}
		packed, err := theirs.Methods["getAgent"].Outputs.Pack(record{
			want.AgentID, want.Address, want.TenantID, want.ScopeHash, want.BehaviorHash,
			new(big.Int).SetUint64(want.RegisteredAt), new(big.Int).SetUint64(want.RevokedAt),
		})
		ok(t, err)
		got, err := chain.DecodeAgent(packed, want.AgentID)
		ok(t, err)
		if got != want {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	}
}

func typed(d tx.Domain, name string, message apitypes.TypedDataMessage) apitypes.TypedData {
	field := func(name, kind string) apitypes.Type { return apitypes.Type{Name: name, Type: kind} }
	return apitypes.TypedData{
		PrimaryType: name,
		Message:     message,
		Domain: apitypes.TypedDataDomain{
			Name: "BrainMCPAgentRegistry", Version: "1", VerifyingContract: d.Contract.String(),
			ChainId: (*math.HexOrDecimal256)(new(big.Int).SetUint64(d.ChainID)),
		},
		Types: apitypes.Types{
			"EIP712Domain": {field("name", "string"), field("version", "string"), field("chainId", "uint256"), field("verifyingContract", "address")},
			"SetTenantSigner": {field("tenantId", "bytes32"), field("signer", "address"), field("allowed", "bool"),
				field("nonce", "uint256")},
			"RegisterAgent": {field("agentId", "bytes32"), field("agentAddress", "address"), field("tenantId", "bytes32"),
				field("scopeHash", "bytes32"), field("behaviorHash", "bytes32"), field("nonce", "uint256")},
			"UpdateBehaviorHash": {field("agentId", "bytes32"), field("behaviorHash", "bytes32"), field("nonce", "uint256")},
			"RevokeAgent":        {field("agentId", "bytes32"), field("nonce", "uint256")},
		},
	}
}

func TestTypedData(t *testing.T) {
	s := newSource(8)
	for range cases {
		d := tx.Domain{ChainID: 1 + s.number()>>1, Contract: s.address()}
		a := tx.Agent{ID: s.hash(), Address: s.address(), TenantID: s.hash(), ScopeHash: s.hash(), BehaviorHash: s.hash()}
		flag, nonce := s.IntN(2) == 1, s.number()
		n := new(big.Int).SetUint64(nonce)
		for _, message := range []struct {
			name string
			ours identity.Hash
			data apitypes.TypedDataMessage
		}{
			{"SetTenantSigner", d.SetTenantSigner(a.TenantID, a.Address, flag, nonce), apitypes.TypedDataMessage{
				"tenantId": a.TenantID.String(), "signer": a.Address.String(), "allowed": flag, "nonce": n}},
			{"RegisterAgent", d.RegisterAgent(a, nonce), apitypes.TypedDataMessage{
				"agentId": a.ID.String(), "agentAddress": a.Address.String(), "tenantId": a.TenantID.String(),
				"scopeHash": a.ScopeHash.String(), "behaviorHash": a.BehaviorHash.String(), "nonce": n}},
			{"UpdateBehaviorHash", d.UpdateBehaviorHash(a.ID, a.BehaviorHash, nonce), apitypes.TypedDataMessage{
				"agentId": a.ID.String(), "behaviorHash": a.BehaviorHash.String(), "nonce": n}},
			{"RevokeAgent", d.RevokeAgent(a.ID, nonce), apitypes.TypedDataMessage{"agentId": a.ID.String(), "nonce": n}},
		} {
			want, _, err := apitypes.TypedDataAndHash(typed(d, message.name, message.data))
			ok(t, err)
			same(t, message.ours[:], want, message.name)
		}
	}
}
