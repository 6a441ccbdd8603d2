package chain_test

import (
	"encoding/binary"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/chain"
)

var (
	agent = identity.Registration{
		AgentID:      identity.AgentHash("acme", "agent_1"),
		Address:      [20]byte{0xde, 19: 0xad},
		TenantID:     identity.TenantHash("acme"),
		ScopeHash:    identity.Keccak([]byte("ledger:read|wiki:read")),
		BehaviorHash: identity.Keccak([]byte("behaviour")),
		RegisteredAt: 1_760_000_000,
	}
	other = func() identity.Registration {
		r := agent
		r.AgentID = identity.AgentHash("globex", "agent_1")
		return r
	}()
	revoked = func() identity.Registration {
		r := agent
		r.RevokedAt = r.RegisteredAt
		return r
	}()
)

// encode is the ABI encoding of a record, written without the code under test.
func encode(r identity.Registration) []byte {
	b := make([]byte, 224)
	copy(b[0:], r.AgentID[:])
	copy(b[44:], r.Address[:])
	copy(b[64:], r.TenantID[:])
	copy(b[96:], r.ScopeHash[:])
	copy(b[128:], r.BehaviorHash[:])
	binary.BigEndian.PutUint64(b[184:], r.RegisteredAt)
	binary.BigEndian.PutUint64(b[216:], r.RevokedAt)
	return b
}

func TestRegistrationCallsGetAgentAtLatest(t *testing.T) {
	var params []json.RawMessage
	n := newNode(t, onCall(func(w http.ResponseWriter, _ *http.Request, q question) {
		if q.Method != "eth_call" || json.Unmarshal(q.Params, &params) != nil || len(params) != 2 {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		answer(w, q)
	}))
	c, _ := newClientAndClock(t, n)
	got, err := chain.NewRegistry(c, registryAddress).Registration(t.Context(), agent.AgentID)
	ok(t, err)
	equal(t, got, agent, "registration")
	// 0xa6c2af01 is the first four bytes of the hash of getAgent(bytes32).
	want := `{"data":"0xa6c2af01` + agent.AgentID.String()[2:] + `","to":"` + registryAddress.String() + `"}`
	equal(t, string(params[0]), want, "call")
	equal(t, string(params[1]), `"latest"`, "block")
}

func TestDecodeAgent(t *testing.T) {
	unknown := identity.Registration{}
	for _, test := range []struct {
		name  string
		bytes []byte
		want  identity.Registration
		fails bool
	}{
		{"registered", encode(agent), agent, false},
		{"revoked", encode(revoked), revoked, false},
		{"unknown", make([]byte, 224), unknown, false},
		{"nothing", nil, unknown, true},
		{"one word", make([]byte, 32), unknown, true},
		{"223 bytes", encode(agent)[:223], unknown, true},
		{"225 bytes", append(encode(agent), 0), unknown, true},
		{"another agent", encode(other), unknown, true},
		{"wide address", set(encode(agent), 32, 1), unknown, true},
		{"wide address, last byte", set(encode(agent), 43, 1), unknown, true},
		{"wide registration time", set(encode(agent), 183, 1), unknown, true},
		{"wide revocation time", set(encode(agent), 192, 1), unknown, true},
		{"no registration time", encode(with(agent, func(r *identity.Registration) { r.RegisteredAt = 0 })), unknown, true},
		{"no id", encode(with(agent, func(r *identity.Registration) { r.AgentID = identity.Hash{} })), unknown, true},
		{"no tenant", encode(with(agent, func(r *identity.Registration) { r.TenantID = identity.Hash{} })), unknown, true},
		{"revocation alone", encode(identity.Registration{RevokedAt: 1}), unknown, true},
		{"revoked too early", encode(with(agent, func(r *identity.Registration) { r.RevokedAt = r.RegisteredAt - 1 })), unknown, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := chain.DecodeAgent(test.bytes, agent.AgentID)
			equal(t, err != nil, test.fails, "fails")
			equal(t, got, test.want, "registration")
		})
	}
}

func with(r identity.Registration, change func(*identity.Registration)) identity.Registration {
	change(&r)
	return r
}

func set(b []byte, at int, value byte) []byte {
	b[at] = value
	return b
}

// Whatever arrives, what is accepted encodes back to the very bytes, and is the
// asked agent or nobody.
func FuzzDecodeAgent(f *testing.F) {
	for _, seed := range [][]byte{encode(agent), encode(revoked), encode(other), make([]byte, 224), nil, encode(agent)[:223]} {
		f.Add(seed, agent.AgentID[:])
	}
	f.Fuzz(func(t *testing.T, returned, id []byte) {
		var asked identity.Hash
		copy(asked[:], id)
		got, err := chain.DecodeAgent(returned, asked)
		if err != nil {
			equal(t, got, identity.Registration{}, "registration beside an error")
			return
		}
		equal(t, string(encode(got)), string(returned), "encoded again")
		if got != (identity.Registration{}) {
			equal(t, got.AgentID, asked, "agent")
			equal(t, got.RegisteredAt != 0, true, "registered")
		}
	})
}
