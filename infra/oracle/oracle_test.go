package oracle_test

import (
	"bytes"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

// cases is how many random inputs each comparison draws.
const cases = 400

// source draws the inputs. The seed is fixed: a failure repeats.
type source struct{ *rand.Rand }

func newSource(seed uint64) source { return source{rand.New(rand.NewPCG(seed, 20260101))} }

// bytes draws n bytes, sometimes with zeros in front: leading zeros are where
// encodings of numbers differ.
func (s source) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(s.Uint32())
	}
	if n > 0 && s.IntN(4) == 0 {
		clear(b[:s.IntN(n+1)])
	}
	return b
}

func (s source) hash() identity.Hash { return identity.Hash(s.bytes(32)) }

func (s source) address() chain.Address { return chain.Address(s.bytes(20)) }

// number draws from every length, not mostly from the longest.
func (s source) number() uint64 { return s.Uint64() >> s.IntN(65) }

func (s source) wei() *big.Int { return new(big.Int).SetBytes(s.bytes(s.IntN(17))) }

func (s source) key(t *testing.T) (*tx.LocalKey, []byte) {
	t.Helper()
	for {
		raw := s.bytes(32)
		if _, err := crypto.ToECDSA(raw); err != nil {
			continue
		}
		key, err := tx.NewLocalKey([32]byte(raw))
		ok(t, err)
		return key, raw
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func same(t *testing.T, got, want []byte, what string) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Fatalf("%s:\n got %x\nwant %x", what, got, want)
	}
}

func TestTransactions(t *testing.T) {
	s := newSource(1)
	for range cases {
		key, raw := s.key(t)
		ours := tx.Transaction{
			ChainID: 1 + s.number()>>1, Nonce: s.number(), Tip: s.wei(), MaxFee: s.wei(), Gas: s.number(),
			Data: s.bytes([]int{0, 1, 4, 54, 55, 56, 57, 200, 255, 256, 257, 70_000}[s.IntN(12)]),
		}
		theirs := &types.DynamicFeeTx{
			ChainID: new(big.Int).SetUint64(ours.ChainID), Nonce: ours.Nonce, GasTipCap: ours.Tip,
			GasFeeCap: ours.MaxFee, Gas: ours.Gas, Value: new(big.Int), Data: ours.Data,
		}
		if len(ours.Data) == 1 { // 0x7f and 0x80 are encoded differently
			ours.Data[0] = []byte{0, 1, 0x7f, 0x80, 0xff}[s.IntN(5)]
		}
		if s.IntN(3) > 0 {
			to := s.address()
			ours.To, theirs.To = &to, (*common.Address)(&to)
		}
		secret, err := crypto.ToECDSA(raw)
		ok(t, err)
		signer := types.LatestSignerForChainID(theirs.ChainID)
		want, err := types.SignNewTx(secret, signer, theirs)
		ok(t, err)
		encoded, err := want.MarshalBinary()
		ok(t, err)

		digest := ours.Digest()
		same(t, digest[:], signer.Hash(want).Bytes(), "digest")
		r, low, v, err := key.Sign(t.Context(), digest)
		ok(t, err)
		signed := ours.Signed(tx.Signature{R: r, S: low, V: v})
		same(t, signed, encoded, "raw transaction")
		hash := identity.Keccak(signed)
		same(t, hash[:], want.Hash().Bytes(), "transaction hash")
	}
}

func TestSignatures(t *testing.T) {
	s := newSource(2)
	for range cases {
		key, raw := s.key(t)
		secret, err := crypto.ToECDSA(raw)
		ok(t, err)
		address := key.Address()
		same(t, address[:], crypto.PubkeyToAddress(secret.PublicKey).Bytes(), "address")

		digest := s.hash()
		want, err := crypto.Sign(digest[:], secret)
		ok(t, err)
		r, low, v, err := key.Sign(t.Context(), digest)
		ok(t, err)
		signature := tx.Signature{R: r, S: low, V: v}
		want[64] += 27
		same(t, signature.Bytes(), want, "signature")
		recovered, err := signature.Recover(digest)
		ok(t, err)
		same(t, recovered[:], address[:], "recovered address")
	}
}

// Keys that go-ethereum refuses we refuse, and the other way round.
func TestKeysAtTheEdges(t *testing.T) {
	order := crypto.S256().Params().N
	for _, n := range []*big.Int{
		new(big.Int), big.NewInt(1), new(big.Int).Sub(order, big.NewInt(1)), order,
		new(big.Int).Add(order, big.NewInt(1)), new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1)),
	} {
		raw := [32]byte(common.LeftPadBytes(n.Bytes(), 32))
		_, ours := tx.NewLocalKey(raw)
		_, theirs := crypto.ToECDSA(raw[:])
		if (ours == nil) != (theirs == nil) {
			t.Errorf("key %x: our error %v, go-ethereum's %v", raw, ours, theirs)
		}
	}
}

func TestAddresses(t *testing.T) {
	s := newSource(3)
	for range cases {
		a := s.address()
		want := common.Address(a).Hex()
		if a.String() != want {
			t.Fatalf("checksum: got %s, want %s", a, want)
		}
		for _, form := range []string{want, strings.ToLower(want)} {
			parsed, err := chain.ParseAddress(form)
			ok(t, err)
			same(t, parsed[:], a[:], "parsed "+form)
		}
		// One letter in the other case must be refused, as go-ethereum's
		// mixed-case type finds it invalid, unless it leaves a single case.
		at := 2 + s.IntN(40)
		turned := []byte(want)
		if turned[at] < 'A' {
			continue
		}
		turned[at] ^= 0x20
		mixed, err := common.NewMixedcaseAddressFromString(string(turned))
		ok(t, err)
		digits := string(turned[2:])
		single := digits == strings.ToLower(digits) || digits == strings.ToUpper(digits)
		if _, err := chain.ParseAddress(string(turned)); (err == nil) != (mixed.ValidChecksum() || single) {
			t.Fatalf("%s: error %v, go-ethereum finds the checksum valid: %v", turned, err, mixed.ValidChecksum())
		}
	}
}

func TestHashes(t *testing.T) {
	s := newSource(4)
	for range cases {
		data := s.bytes(s.IntN(500))
		got := identity.Keccak(data)
		same(t, got[:], crypto.Keccak256(data), "keccak")
		got = identity.AgentHash("tenant", string(data))
		same(t, got[:], crypto.Keccak256([]byte("tenant/"), data), "agent hash")
		got = identity.TenantHash(string(data))
		same(t, got[:], crypto.Keccak256(data), "tenant hash")
	}
}

// Scopes come in any order and more than once; the hash is of the set.
func TestScopeHashes(t *testing.T) {
	s := newSource(9)
	all := identity.AllScopes.Strings()
	for range cases {
		var names []string
		set := map[string]bool{}
		for range s.IntN(2 * len(all)) {
			name := all[s.IntN(len(all))]
			names, set[name] = append(names, name), true
		}
		scopes, err := identity.ParseScopes(names)
		ok(t, err)
		got := scopes.Hash()
		want := crypto.Keccak256([]byte(strings.Join(slices.Sorted(maps.Keys(set)), "|")))
		same(t, got[:], want, strings.Join(names, " "))
	}
}
