package charter_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

func fromHex(t *testing.T, text string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(text)
	noError(t, err)
	return raw
}

// vectors were made by another implementation of EIP-712 in another language
// (eth-account, in Python), which also signed them with the key 7.
var vectors = []struct {
	chain                   uint64
	registry, tenant        string
	version                 int64
	hash, digest, signature string
}{
	{31337, "0x5FbDB2315678afecb367f032d93F642f64180aa3", "acme", 1,
		"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
		"5496aca1195de2df05bf597bd85c4c6c78f808ad18aad0b2af52e471e5586592",
		"d062895a3ac26e31b2963bfadf79ea26f4fb8c7684109ad7db15cee7fb3691e51ea11de42091302b65ae8094a0d3aeef35a58bf2a9e1472a6d0fa95b7013c7741b"},
	{8453, "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "globex", 9007199254740991,
		strings.Repeat("ff", 32),
		"86f2a25899608a5c361e9afd16f3d43591e1213abe3f8ae1facaffdf64b345b7",
		"bfa73194cc36ca6523466a7fa5fb12227e5ba41c3ad10bd9d1e81f2da99ae9d626bf3a72270f91bed3b21b60b6f9bacbe887dd9de3084638abf2210771b28e521b"},
	{1, "0x0000000000000000000000000000000000000001", "a", 256,
		strings.Repeat("00", 32),
		"e8280f7f6aa94ba2801a971ab014417eab84a3e51aaa5b006c2ffab64a9294a9",
		"08d002fb1b93a6bbdb899f0fa73bcbc98c5fa8c069b50f638e2a165ab2bc875d039edb9215709bdfa3a97c606d142979d7517a64046eba07d51ee157a298b6a51c"},
}

// TestDigest: what signers sign is what wallets sign.
func TestDigest(t *testing.T) {
	key, err := tx.NewLocalKey([32]byte{31: 7})
	noError(t, err)
	for _, v := range vectors {
		registry, err := identity.ParseAddress(v.registry)
		noError(t, err)
		tenant, err := identity.OperatorTenant(v.tenant)
		noError(t, err)
		digest := charter.Domain{ChainID: v.chain, Registry: registry}.Digest(tenant, v.version, [32]byte(fromHex(t, v.hash)))
		equal(t, "digest", hex.EncodeToString(digest[:]), v.digest)
		signer, err := tx.PolicySigners{}.Signer(digest, fromHex(t, v.signature))
		noError(t, err)
		equal(t, "signer", signer, key.Address())
	}
}

// TestDigestByHand: the same, step by step from the bytes.
func TestDigestByHand(t *testing.T) {
	keccak := func(parts ...[]byte) []byte {
		h := identity.Keccak(slices.Concat(parts...))
		return h[:]
	}
	number := func(n uint64) []byte { return fromHex(t, fmt.Sprintf("%064x", n)) }
	v := vectors[0]
	separator := keccak(
		keccak([]byte("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)")),
		keccak([]byte("Brain Policy")), keccak([]byte("1")), number(v.chain), make([]byte, 12), fromHex(t, strings.ToLower(v.registry[2:])))
	message := keccak(
		keccak([]byte("PolicyRegistration(bytes32 tenantId,uint256 version,bytes32 policyHash)")),
		keccak([]byte(v.tenant)), number(uint64(v.version)), fromHex(t, v.hash))
	equal(t, "digest", hex.EncodeToString(keccak([]byte("\x19\x01"), separator, message)), v.digest)
}

// A signature binds to chain, registry, tenant, version and document: whichever
// is another makes another digest.
func TestDigestBindsEverything(t *testing.T) {
	acme, err := identity.OperatorTenant("acme")
	noError(t, err)
	globex, err := identity.OperatorTenant("globex")
	noError(t, err)
	other := charter.Domain{ChainID: 1, Registry: domain.Registry}
	elsewhere := charter.Domain{ChainID: domain.ChainID, Registry: identity.Address{0: 1}}
	seen := map[identity.Hash]bool{}
	for _, digest := range []identity.Hash{
		domain.Digest(acme, 1, [32]byte{}), other.Digest(acme, 1, [32]byte{}), elsewhere.Digest(acme, 1, [32]byte{}),
		domain.Digest(globex, 1, [32]byte{}), domain.Digest(acme, 2, [32]byte{}), domain.Digest(acme, 1, [32]byte{1}),
	} {
		seen[digest] = true
	}
	equal(t, "digests", len(seen), 6)
}

func TestSignatureText(t *testing.T) {
	s := charter.Signature(fromHex(t, vectors[0].signature))
	text, err := json.Marshal(s)
	noError(t, err)
	equal(t, "text", string(text), `"0x`+vectors[0].signature+`"`)
	var back charter.Signature
	noError(t, json.Unmarshal(text, &back))
	equal(t, "read back", hex.EncodeToString(back), vectors[0].signature)
	for _, bad := range []string{"", "0x", vectors[0].signature, "0x" + vectors[0].signature[2:], "0x" + vectors[0].signature + "00", "0x" + strings.Repeat("zz", 65), "0X" + vectors[0].signature} {
		if err := back.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%.20q is taken", bad)
		}
	}
}
