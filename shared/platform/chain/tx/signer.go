package tx

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/chain"
)

// Signer holds one secp256k1 key, here or in a key service. Sign signs a digest
// as it is; s must be in the lower half of the group's order (EIP-2) and v the
// parity of the nonce point's y, 0 or 1.
type Signer interface {
	Address() chain.Address
	Sign(ctx context.Context, digest [32]byte) (r, s [32]byte, v byte, err error)
}

// Signature is a checked signature: low S, V 0 or 1.
type Signature struct {
	R, S [32]byte
	V    byte
}

// Bytes writes the 65 bytes that contracts recover from: R, S, then 27 or 28.
func (s Signature) Bytes() []byte {
	b := append(s.R[:], s.S[:]...)
	return append(b, 27+s.V)
}

// Recover returns the address whose key signed digest. It refuses a signature
// with a high S or another V than 0 and 1: the chain and the contracts do too.
func (s Signature) Recover(digest identity.Hash) (chain.Address, error) {
	var low secp256k1.ModNScalar
	if overflow := low.SetBytes(&s.S); overflow != 0 || low.IsOverHalfOrder() {
		return chain.Address{}, errors.New("signature: s is not in the lower half of the order")
	}
	if s.V > 1 {
		return chain.Address{}, fmt.Errorf("signature: v is %d, want 0 or 1", s.V)
	}
	compact := append([]byte{27 + s.V}, s.R[:]...)
	key, _, err := ecdsa.RecoverCompact(append(compact, s.S[:]...), digest[:])
	if err != nil {
		return chain.Address{}, fmt.Errorf("signature: %w", err)
	}
	return addressOf(key), nil
}

func addressOf(key *secp256k1.PublicKey) chain.Address {
	return chain.AddressOf([64]byte(key.SerializeUncompressed()[1:]))
}

// Sign has signer sign digest and checks what it answered: a key service that
// answers with the wrong key or form is found here, not by a lost transaction.
func Sign(ctx context.Context, signer Signer, digest identity.Hash) (Signature, error) {
	r, s, v, err := signer.Sign(ctx, digest)
	if err != nil {
		return Signature{}, fmt.Errorf("sign as %s: %w", signer.Address(), err)
	}
	signature := Signature{R: r, S: s, V: v}
	signed, err := signature.Recover(digest)
	if err != nil {
		return Signature{}, fmt.Errorf("sign as %s: %w", signer.Address(), err)
	}
	if signed != signer.Address() {
		return Signature{}, fmt.Errorf("sign as %s: the key signed as %s", signer.Address(), signed)
	}
	return signature, nil
}

// LocalKey is a signer whose key lies in this process: for the local stack and
// an operator's machine. It never prints the key.
type LocalKey struct {
	key     *secp256k1.PrivateKey
	address chain.Address
}

// ParseLocalKey reads a private key, 64 hexadecimal digits with or without 0x.
// Its errors do not quote it.
func ParseLocalKey(text string) (*LocalKey, error) {
	raw, err := hex.DecodeString(strings.TrimPrefix(strings.TrimSpace(text), "0x"))
	if err != nil || len(raw) != 32 {
		return nil, errors.New("private key: want 64 hexadecimal digits")
	}
	return NewLocalKey([32]byte(raw))
}

// NewLocalKey makes a signer from a private key, which must be from 1 to the
// group's order less one.
func NewLocalKey(raw [32]byte) (*LocalKey, error) {
	var scalar secp256k1.ModNScalar
	if overflow := scalar.SetBytes(&raw); overflow != 0 || scalar.IsZero() {
		return nil, errors.New("private key: zero, or not below the group's order")
	}
	key := secp256k1.NewPrivateKey(&scalar)
	return &LocalKey{key: key, address: addressOf(key.PubKey())}, nil
}

// Address is the account of the key.
func (k *LocalKey) Address() chain.Address { return k.address }

// String names the key by its account.
func (k *LocalKey) String() string { return "key of " + k.address.String() }

// GoString is String, so that %#v shows no key either.
func (k *LocalKey) GoString() string { return k.String() }

// Sign signs with the deterministic nonce of RFC 6979.
func (k *LocalKey) Sign(_ context.Context, digest [32]byte) (r, s [32]byte, v byte, err error) {
	compact := ecdsa.SignCompact(k.key, digest[:], false)
	// Above 28 the point's x was reduced by the order: Ethereum has no such v.
	// Nobody has met one (a chance of about one in 2^127).
	if compact[0] > 28 {
		return r, s, 0, errors.New("the signature has no Ethereum form")
	}
	return [32]byte(compact[1:33]), [32]byte(compact[33:]), compact[0] - 27, nil
}
