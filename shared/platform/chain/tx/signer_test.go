package tx_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

const order = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"

func TestLocalKey(t *testing.T) {
	key := localKey(t, anvilKey)
	equal(t, key.Address().String(), "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "address")
	equal(t, localKey(t, " "+strings.TrimPrefix(anvilKey, "0x")+"\n").Address(), key.Address(), "address without 0x")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		equal(t, fmt.Sprintf(verb, key), "key of "+key.Address().String(), "printed with "+verb)
	}
}

func TestParseLocalKeyRefuses(t *testing.T) {
	for _, text := range []string{
		"", "0x", anvilKey[:65], anvilKey + "00", strings.Repeat("0", 64), order, strings.Repeat("f", 64), strings.Repeat("x", 64),
	} {
		_, err := tx.ParseLocalKey(text)
		fails(t, err, "private key")
		if len(text) > 8 && strings.Contains(err.Error(), text) {
			t.Fatalf("the error shows the key: %v", err)
		}
	}
}

func TestRecover(t *testing.T) {
	key, digest := localKey(t, anvilKey), identity.Keccak([]byte("message"))
	r, s, v, err := key.Sign(t.Context(), digest)
	ok(t, err)
	good := tx.Signature{R: r, S: s, V: v}
	signed, err := good.Recover(digest)
	ok(t, err)
	equal(t, signed, key.Address(), "signer")
	equal(t, len(good.Bytes()), 65, "length")
	equal(t, good.Bytes()[64], 27+v, "v")

	// The other form of the same signature, which Ethereum refuses.
	n, _ := new(big.Int).SetString(order, 16)
	high := tx.Signature{R: r, V: v ^ 1}
	n.Sub(n, new(big.Int).SetBytes(s[:])).FillBytes(high.S[:])
	_, err = high.Recover(digest)
	fails(t, err, "lower half")

	for name, bad := range map[string]tx.Signature{
		"v 2": {R: r, S: s, V: 2}, "v 27": {R: r, S: s, V: 27}, "zero": {}, "no r": {S: s, V: v}, "no s": {R: r, V: v},
		"s is the order": {R: r, S: [32]byte(mustHex(order)), V: v},
	} {
		if _, err := bad.Recover(digest); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	other, err := tx.Signature{R: r, S: s, V: v ^ 1}.Recover(digest)
	if err == nil && other == key.Address() {
		t.Error("the other parity leads to the same signer")
	}
}

func mustHex(digits string) []byte {
	n, _ := new(big.Int).SetString(digits, 16)
	return n.Bytes()
}

// keyService stands for a key outside the process that can be wrong.
type keyService struct {
	address chain.Address
	sign    func(ctx context.Context, digest [32]byte) (r, s [32]byte, v byte, err error)
}

func (k keyService) Address() chain.Address { return k.address }

func (k keyService) Sign(ctx context.Context, digest [32]byte) (r, s [32]byte, v byte, err error) {
	return k.sign(ctx, digest)
}

func TestWrongSignatureIsNeverSent(t *testing.T) {
	key := localKey(t, anvilKey)
	for _, test := range []struct {
		name, want string
		service    keyService
	}{
		{"another key", "signed as 0xf39F", keyService{contract, key.Sign}},
		{"out of service", "no such key", keyService{contract, func(context.Context, [32]byte) (r, s [32]byte, v byte, err error) {
			return r, s, v, errors.New("no such key")
		}}},
		{"v of another convention", "v is", keyService{key.Address(), func(ctx context.Context, digest [32]byte) (r, s [32]byte, v byte, err error) {
			r, s, v, err = key.Sign(ctx, digest)
			return r, s, v + 27, err
		}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := newNode(t)
			made := transactor(t, func(c *tx.Config) { c.Signer = test.service }, n)
			hash, err := made.Send(t.Context(), &contract, nil)
			fails(t, err, test.want)
			equal(t, hash, identity.Hash{}, "hash")
			equal(t, len(n.asked("eth_sendRawTransaction")), 0, "transactions sent")
		})
	}
}
