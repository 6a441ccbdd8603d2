package chain

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/robotmoney/mcp/shared/domain/identity"
)

// Registry reads the agent registry contract at the latest block. It implements
// identity.Registry and keeps nothing: caching and sharing of concurrent misses
// belong to its caller.
type Registry struct {
	client   *Client
	contract Address
}

var _ identity.Registry = (*Registry)(nil)

// NewRegistry reads the registry at contract.
func NewRegistry(client *Client, contract Address) *Registry {
	return &Registry{client: client, contract: contract}
}

// getAgent is the selector of getAgent(bytes32).
var getAgent = Selector("getAgent(bytes32)")

// Selector is the first four bytes of the hash of a function's signature, by
// which a call names the function.
func Selector(signature string) [4]byte {
	hash := identity.Keccak([]byte(signature))
	return [4]byte(hash[:4])
}

// Registration asks for an agent by its on-chain id. An id that was never
// registered is an answer (RegisteredAt 0), not an error. Every error has the
// code onchain_unavailable.
func (r *Registry) Registration(ctx context.Context, agent identity.Hash) (identity.Registration, error) {
	var found identity.Registration
	err := r.client.Call(ctx, r.contract, slices.Concat(getAgent[:], agent[:]), func(returned []byte) error {
		registration, err := DecodeAgent(returned, agent)
		found = registration
		return err
	})
	if err != nil {
		return identity.Registration{}, fmt.Errorf("read the registration of %s: %w", agent, err)
	}
	return found, nil
}

// agentWords is the number of fields in the contract's AgentRegistration, all
// static: agentId, agentAddress, tenantId, scopeHash, behaviorHash,
// registeredAt, revokedAt.
const agentWords = 7

// DecodeAgent reads what getAgent(asked) returned. It refuses everything that
// our contract cannot have said: another length (an address without code
// returns nothing at all), dirty padding, the record of another id, a half
// filled record, a revocation before the registration.
func DecodeAgent(returned []byte, asked identity.Hash) (identity.Registration, error) {
	var none identity.Registration
	if len(returned) != agentWords*32 {
		return none, fmt.Errorf("getAgent returned %d bytes, want %d: is the registry at this address?", len(returned), agentWords*32)
	}
	word := func(i int) []byte { return returned[i*32 : i*32+32] }
	if !allZero(word(1)[:12]) {
		return none, errors.New("getAgent: the agent's address is wider than 20 bytes")
	}
	if !allZero(word(5)[:24]) || !allZero(word(6)[:24]) {
		return none, errors.New("getAgent: a time is wider than 64 bits")
	}
	r := identity.Registration{
		AgentID:      identity.Hash(word(0)),
		Address:      [20]byte(word(1)[12:]),
		TenantID:     identity.Hash(word(2)),
		ScopeHash:    identity.Hash(word(3)),
		BehaviorHash: identity.Hash(word(4)),
		RegisteredAt: binary.BigEndian.Uint64(word(5)[24:]),
		RevokedAt:    binary.BigEndian.Uint64(word(6)[24:]),
	}
	if err := plausible(r, asked); err != nil {
		return none, err
	}
	return r, nil
}

// plausible checks the record against what the contract can hold.
func plausible(r identity.Registration, asked identity.Hash) error {
	switch {
	case r == identity.Registration{}:
		return nil
	case r.AgentID != asked:
		return errors.New("getAgent: the record is of another agent")
	case r.RegisteredAt == 0 || r.TenantID == identity.Hash{}:
		return errors.New("getAgent: the record is half empty")
	case r.RevokedAt != 0 && r.RevokedAt < r.RegisteredAt:
		return errors.New("getAgent: revoked before it was registered")
	}
	return nil
}

// isTenantSigner is the selector of isTenantSigner(bytes32,address).
var isTenantSigner = Selector("isTenantSigner(bytes32,address)")

// IsTenantSigner says whether the registry lists an account as a signer of a
// tenant. Every error has the code onchain_unavailable.
func (r *Registry) IsTenantSigner(ctx context.Context, tenant identity.Hash, signer Address) (listed bool, err error) {
	call := slices.Concat(isTenantSigner[:], tenant[:], make([]byte, 12), signer[:])
	err = r.client.Call(ctx, r.contract, call, func(returned []byte) (err error) {
		listed, err = decodeBool(returned)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("ask whether %s signs for tenant %s: %w", signer, tenant, err)
	}
	return listed, nil
}

// decodeBool reads one returned bool.
func decodeBool(returned []byte) (bool, error) {
	if len(returned) != 32 || !allZero(returned[:31]) || returned[31] > 1 {
		return false, errors.New("returned no bool")
	}
	return returned[31] == 1, nil
}

func allZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}
