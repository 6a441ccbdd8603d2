package charter

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/identity"
)

// Domain binds signatures to one registry on one chain: signed for a test chain,
// a policy is worth nothing on another.
type Domain struct {
	ChainID  uint64
	Registry identity.Address
}

// The EIP-712 types of a policy's signature. One letter changed here makes every
// signed policy invalid.
const (
	domainType       = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
	domainName       = "Brain Policy"
	domainVersion    = "1"
	registrationType = "PolicyRegistration(bytes32 tenantId,uint256 version,bytes32 policyHash)"
)

// Digest is what a signer of the tenant signs for a version of its policy.
func (d Domain) Digest(t identity.Tenant, version int64, hash [32]byte) identity.Hash {
	tenant := identity.TenantHash(t.String())
	separator := hashStruct(domainType, keccak(domainName), keccak(domainVersion), word(d.ChainID), leftPad(d.Registry[:]))
	message := hashStruct(registrationType, tenant[:], word(uint64(version)), hash[:])
	return identity.Keccak(slices.Concat([]byte{0x19, 0x01}, separator[:], message[:]))
}

func hashStruct(typ string, words ...[]byte) identity.Hash {
	return identity.Keccak(slices.Concat(append([][]byte{keccak(typ)}, words...)...))
}

func keccak(text string) []byte {
	hash := identity.Keccak([]byte(text))
	return hash[:]
}

// word is a number as a 32-byte word.
func word(n uint64) []byte { return leftPad(binary.BigEndian.AppendUint64(nil, n)) }

func leftPad(b []byte) []byte { return append(make([]byte, 32-len(b)), b...) }

// Signature is one signer's approval of a policy: R, S and 27 or 28, 65 bytes,
// written as 0x and hexadecimal digits.
type Signature []byte

// MarshalText writes the signature.
func (s Signature) MarshalText() ([]byte, error) { return []byte("0x" + hex.EncodeToString(s)), nil }

// UnmarshalText reads 0x and 130 hexadecimal digits.
func (s *Signature) UnmarshalText(text []byte) error {
	digits, marked := strings.CutPrefix(string(text), "0x")
	raw, err := hex.DecodeString(digits)
	if !marked || err != nil || len(raw) != 65 {
		return fmt.Errorf("signature: want 0x and 130 hexadecimal digits")
	}
	*s = raw
	return nil
}
