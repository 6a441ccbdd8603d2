package tx_test

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

func address(t *testing.T, text string) chain.Address {
	t.Helper()
	a, err := chain.ParseAddress(text)
	ok(t, err)
	return a
}

// The vectors of this file were made with go-ethereum; infra/oracle compares
// many more.
func TestSignedTransaction(t *testing.T) {
	to := address(t, "0x5FbDB2315678afecb367f032d93F642f64180aa3")
	for _, test := range []struct {
		name, raw, hash string
		transaction     tx.Transaction
	}{
		{
			"call",
			"02f868827a6980018477359400825208945fbdb2315678afecb367f032d93f642f64180aa38001c001a018d135938a8c4c2ebad4f4320e5ee7944f4b1b1ca75cdb115f2caf33f2ba7f1ba058fd2a0142bd41832c66990e76878dfd2841b23529750c9260dc51b0d6ec446f",
			"0x89f48247bdf4fed9238415de50a3ab5a1c33cf1acbc297bd61510a40e156ba25",
			tx.Transaction{ChainID: 31337, Tip: big.NewInt(1), MaxFee: big.NewInt(2e9), Gas: 21000, To: &to, Data: []byte{1}},
		},
		{
			"creation",
			"02f894827a6981c880847735940084010000008080b83c606060606060606060606060606060606060606060606060606060606060606060606060606060606060606060606060606060606060606060606060c080a04474e95e666f10d563e1981d26d4e80c732086941fa476cb9d642d047348c286a024a1599c01f4e7b13630a8acb1bd003f3854e4001d817c70da8b721f717ed247",
			"0x29936489e564de2b2ec5a77a9c6a7496e12dd594f5d6c04955da0f83155affac",
			tx.Transaction{ChainID: 31337, Nonce: 200, Tip: new(big.Int), MaxFee: big.NewInt(2e9), Gas: 1 << 24,
				Data: []byte(strings.Repeat("\x60", 60))},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, s, v, err := localKey(t, anvilKey).Sign(t.Context(), test.transaction.Digest())
			ok(t, err)
			raw := test.transaction.Signed(tx.Signature{R: r, S: s, V: v})
			equal(t, hex.EncodeToString(raw), test.raw, "raw transaction")
			equal(t, identity.Keccak(raw).String(), test.hash, "hash")
		})
	}
}

// Where the encoding of bytes changes its form: at 0x80 for a single one, at 56
// for many.
func TestDataAtTheEdges(t *testing.T) {
	for _, test := range []struct {
		data []byte
		want string
	}{
		{nil, "80"},
		{[]byte{0}, "00"},
		{[]byte{0x7f}, "7f"},
		{[]byte{0x80}, "8180"},
		{make([]byte, 55), "b7" + strings.Repeat("00", 55)},
		{make([]byte, 56), "b838" + strings.Repeat("00", 56)},
		{make([]byte, 256), "b90100" + strings.Repeat("00", 256)},
	} {
		transaction := tx.Transaction{ChainID: 1, Tip: new(big.Int), MaxFee: new(big.Int), To: &contract, Data: test.data}
		raw := hex.EncodeToString(transaction.Signed(tx.Signature{}))
		// Behind the recipient: the value 0, the data, the empty access list and
		// a signature of zeros.
		_, got, _ := strings.Cut(raw, hex.EncodeToString(contract[:]))
		equal(t, got, "80"+test.want+"c0808080", "encoding")
	}
}

func TestTypedDataDigests(t *testing.T) {
	to := address(t, "0x5FbDB2315678afecb367f032d93F642f64180aa3")
	d := tx.Domain{ChainID: 31337, Contract: to}
	a := tx.Agent{
		ID: identity.AgentHash("acme", "agent_1"), Address: to, TenantID: identity.TenantHash("acme"),
		ScopeHash: identity.Keccak([]byte("ledger:read|wiki:read")), BehaviorHash: identity.Keccak([]byte("behaviour")),
	}
	for want, got := range map[string]identity.Hash{
		"0x64f19b2561453b5a9299e6ada47b41c2833128a93e6a923bb9bab09e5ab2e1b0": d.SetTenantSigner(a.TenantID, to, true, 7),
		"0x161a94cdd3a88a2d3df1a6af0f1abecd2ca9c0a0240de9a4f6f3dfaf814a89d8": d.RegisterAgent(a, 7),
		"0x6444faad795d123790358a903d82633e2b668e0b1c16e28a661f0e3b0f8277f9": d.UpdateBehaviorHash(a.ID, a.BehaviorHash, 7),
		"0xe38c0de1646bc032c6057e3f17fd43898abaa1e541c296c757eb3bde377462a4": d.RevokeAgent(a.ID, 7),
	} {
		equal(t, got.String(), want, "digest")
	}
}

// No two messages share a digest: not those of another chain, contract, tenant,
// nonce or kind.
func TestTypedDataDigestsDiffer(t *testing.T) {
	seen := map[identity.Hash]string{}
	for _, d := range []tx.Domain{{1, contract}, {2, contract}, {1, chain.Address{1}}} {
		for _, id := range []identity.Hash{{1}, {2}} {
			for nonce := range uint64(3) {
				for kind, digest := range map[string]identity.Hash{
					"allow":  d.SetTenantSigner(id, contract, true, nonce),
					"forbid": d.SetTenantSigner(id, contract, false, nonce),
					"update": d.UpdateBehaviorHash(id, identity.Hash{}, nonce),
					"revoke": d.RevokeAgent(id, nonce),
				} {
					what := fmt.Sprintf("%s %v %s %d", kind, d, id, nonce)
					if before, ok := seen[digest]; ok {
						t.Fatalf("%s and %s have one digest", before, what)
					}
					seen[digest] = what
				}
			}
		}
	}
	equal(t, len(seen), 3*2*3*4, "digests")
}

func TestArgs(t *testing.T) {
	word := func(last string) string { return strings.Repeat("0", 64-len(last)) + last }
	pad := func(first string) string { return first + strings.Repeat("0", 64-len(first)) }
	for _, test := range []struct {
		name string
		args *tx.Args
		want []string
	}{
		{"nothing", new(tx.Args), nil},
		{"static", new(tx.Args).Uint(0x1ff).Bool(true).Bool(false).Address(chain.Address{0xab, 19: 1}),
			[]string{word("1ff"), word("1"), word("0"), word("ab00000000000000000000000000000000000001")}},
		{"no bytes", new(tx.Args).Bytes(nil), []string{word("20"), word("0")}},
		{"three bytes behind a word", new(tx.Args).Uint(5).Bytes([]byte{1, 2, 3}), []string{word("5"), word("40"), word("3"), pad("010203")}},
		{"a full word", new(tx.Args).Bytes(make([]byte, 32)), []string{word("20"), word("20"), word("0")}},
		{"two dynamic ones", new(tx.Args).Bytes([]byte{1}).Uint(9).Bytes([]byte{2}),
			[]string{word("60"), word("9"), word("a0"), word("1"), pad("01"), word("1"), pad("02")}},
		{"array", new(tx.Args).Array(2, new(tx.Args).Uint(1).Uint(2)), []string{word("20"), word("2"), word("1"), word("2")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			equal(t, hex.EncodeToString(test.args.Encode()), strings.Join(test.want, ""), "encoding")
			equal(t, hex.EncodeToString(test.args.Encode()), strings.Join(test.want, ""), "encoding, a second time")
		})
	}
	selector := tx.Function("transfer(address,uint256)").Encode()
	equal(t, hex.EncodeToString(selector), "a9059cbb", "selector of transfer")
}
