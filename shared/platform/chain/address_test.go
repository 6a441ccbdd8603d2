package chain_test

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/platform/chain"
)

// The addresses that EIP-55 gives as examples.
var checksummed = []string{
	"0x52908400098527886E0F7030069857D2E4169EE7",
	"0x8617E340B3D01FA5F11F306F4090FD50E238070D",
	"0xde709f2102306220921060314715629080e2fb77",
	"0x27b1fdb04752bbc536007a920d24acb045561c26",
	"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
	"0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
	"0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
	"0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
}

func TestAddressChecksum(t *testing.T) {
	for _, text := range checksummed {
		for _, form := range []string{text, strings.ToLower(text), "0x" + strings.ToUpper(text[2:])} {
			a, err := chain.ParseAddress(form)
			ok(t, err)
			equal(t, a.String(), text, "checksummed")
		}
	}
}

func TestParseAddressRefuses(t *testing.T) {
	good := "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
	for _, text := range []string{
		"", "0x", good[2:], "0X" + good[2:], good + "0", good[:41], good + "00", " " + good,
		"0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", // one letter in the wrong case
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee", // one digit wrong
		"0xg" + good[3:],
	} {
		if a, err := chain.ParseAddress(text); err == nil {
			t.Errorf("%q: got %s, want an error", text, a)
		}
	}
}

func TestAddressOfPublicKey(t *testing.T) {
	// The group's generator is the public key of the private key 1.
	raw, err := hex.DecodeString("79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798" +
		"483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8")
	ok(t, err)
	equal(t, chain.AddressOf([64]byte(raw)).String(), "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf", "address")
}

func FuzzParseAddress(f *testing.F) {
	for _, text := range checksummed {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := chain.ParseAddress(text)
		if err != nil {
			return
		}
		equal(t, strings.ToLower(a.String()), strings.ToLower(text), "written again")
		again, err := chain.ParseAddress(a.String())
		ok(t, err)
		equal(t, again, a, "parsed again")
	})
}

func TestQuantity(t *testing.T) {
	for text, want := range map[string]uint64{"0x0": 0, "0x7a69": 31337, "0xFF": 255, "0xffffffffffffffff": 1<<64 - 1} {
		got, err := chain.ParseQuantity(text)
		ok(t, err)
		equal(t, got, want, text)
	}
	for _, text := range []string{"", "0", "0x", "0x00", "0x01", "1", "0x-1", "0x+1", "0x1_0", "0xg", "0x10000000000000000", "0X1"} {
		if n, err := chain.ParseQuantity(text); err == nil {
			t.Errorf("%q: got %d, want an error", text, n)
		}
	}
}

func FuzzParseQuantity(f *testing.F) {
	f.Add("0x7a69")
	f.Add("0x00")
	f.Fuzz(func(t *testing.T, text string) {
		if n, err := chain.ParseQuantity(text); err == nil {
			equal(t, chain.FormatQuantity(n), strings.ToLower(text), "written again")
		}
	})
}

func FuzzParseData(f *testing.F) {
	f.Add([]byte(`"0x00ff"`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		data, err := chain.ParseData(raw)
		if err != nil {
			return
		}
		var text string
		ok(t, json.Unmarshal(raw, &text))
		equal(t, chain.FormatData(data), strings.ToLower(text), "written again")
	})
}
