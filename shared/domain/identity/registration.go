package identity

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"

	"golang.org/x/crypto/sha3"
)

// Hash is a 32-byte value as the chain stores it: an agent id, a tenant id, a
// scope hash or a behaviour hash.
type Hash [32]byte

// Keccak returns the legacy Keccak-256 of data, the hash Solidity's keccak256
// computes (not NIST SHA3-256, which pads differently).
func Keccak(data []byte) Hash {
	state := sha3.NewLegacyKeccak256()
	state.Write(data)
	return Hash(state.Sum(nil))
}

// ParseHash reads 0x and exactly 64 hexadecimal digits of either case.
func ParseHash(text string) (Hash, error) {
	digits, ok := strings.CutPrefix(text, "0x")
	if !ok || len(digits) != 64 {
		return Hash{}, fmt.Errorf("hash %.80q: want 0x and 64 hexadecimal digits", text)
	}
	var h Hash
	if _, err := hex.Decode(h[:], []byte(digits)); err != nil {
		return Hash{}, fmt.Errorf("hash %.80q: %w", text, err)
	}
	return h, nil
}

// String writes the hash as 0x and 64 lower-case hexadecimal digits.
func (h Hash) String() string { return "0x" + hex.EncodeToString(h[:]) }

// MarshalText writes the hash as String does.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads what ParseHash accepts.
func (h *Hash) UnmarshalText(text []byte) (err error) {
	*h, err = ParseHash(string(text))
	return err
}

// AgentHash is the id an agent has on the chain. The tenant is part of it, so
// no other tenant can take the id first.
func AgentHash(tenant, agent string) Hash { return Keccak([]byte(tenant + "/" + agent)) }

// TenantHash is the id a tenant has on the chain.
func TenantHash(tenant string) Hash { return Keccak([]byte(tenant)) }

// Registration is what the registry contract holds for an agent id. An id that
// was never registered has RegisteredAt 0 and every other field empty.
type Registration struct {
	AgentID      Hash
	Address      [20]byte
	TenantID     Hash
	ScopeHash    Hash
	BehaviorHash Hash
	RegisteredAt uint64 // Unix seconds of the block that registered it
	RevokedAt    uint64 // Unix seconds of the block that revoked it, 0 while it stands
}

// Active says whether the agent is registered and not revoked.
func (r Registration) Active() bool { return r.RegisteredAt != 0 && r.RevokedAt == 0 }

// Registry reads registrations from the chain. It fails with the code
// onchain_unavailable when no endpoint gives a believable answer; it never
// guesses.
type Registry interface {
	Registration(ctx context.Context, agent Hash) (Registration, error)
}
