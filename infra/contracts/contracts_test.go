package contracts_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/sha3"

	"github.com/robotmoney/mcp/infra/contracts"
)

var all = []contracts.Contract{contracts.Registry, contracts.Anchor}

// The functions that programs call by name: a renamed function or a changed
// argument fails here, before a call of it fails on a chain.
func TestSelectors(t *testing.T) {
	for _, c := range []struct {
		contract  contracts.Contract
		signature string
		want      [4]byte
	}{
		{contracts.Registry, "getAgent(bytes32)", [4]byte{0xa6, 0xc2, 0xaf, 0x01}},
		{contracts.Registry, "isAuthorized(bytes32,bytes32)", [4]byte{0x09, 0x62, 0x79, 0x6c}},
		{contracts.Registry, "isTenantSigner(bytes32,address)", [4]byte{0x19, 0xe7, 0x41, 0x22}},
		{contracts.Registry, "nonces(bytes32)", [4]byte{0x9e, 0x31, 0x7f, 0x12}},
		{contracts.Registry, "signerCount(bytes32)", [4]byte{0x6e, 0x6e, 0xf1, 0x03}},
		{contracts.Registry, "admin()", [4]byte{0xf8, 0x51, 0xa4, 0x40}},
		{contracts.Registry, "setTenantSigner(bytes32,address,bool,bytes)", [4]byte{0xc6, 0x42, 0x60, 0xa0}},
		{contracts.Registry, "registerAgent(bytes32,address,bytes32,bytes32,bytes32,bytes)", [4]byte{0xbe, 0xde, 0x0f, 0x6c}},
		{contracts.Registry, "updateBehaviorHash(bytes32,bytes32,bytes)", [4]byte{0xb4, 0x33, 0xa6, 0x8a}},
		{contracts.Registry, "revokeAgent(bytes32,bytes)", [4]byte{0x97, 0xf2, 0xd5, 0x0c}},
		{contracts.Anchor, "anchor(bytes32,bytes32,uint64,uint64,uint64,uint64,uint64)", [4]byte{0x67, 0xcf, 0x15, 0x37}},
		{contracts.Anchor, "anchorBatch((bytes32,bytes32,uint64,uint64,uint64,uint64,uint64)[])", [4]byte{0xb0, 0xd2, 0x7e, 0xe7}},
		{contracts.Anchor, "isPublished(bytes32,bytes32)", [4]byte{0xf7, 0x28, 0x5d, 0xa7}},
		{contracts.Anchor, "latestAnchor(bytes32)", [4]byte{0xb6, 0x29, 0xd6, 0xfd}},
		{contracts.Anchor, "latestAnchorFull(bytes32)", [4]byte{0x3d, 0x12, 0x3e, 0x21}},
		{contracts.Anchor, "anchorOf(bytes32,bytes32)", [4]byte{0x2f, 0x71, 0xa5, 0x56}},
		{contracts.Anchor, "verifyInclusion(bytes32,bytes32,bytes32,bytes32[])", [4]byte{0x2d, 0x87, 0x3e, 0x2c}},
		{contracts.Anchor, "transferPublisher(address)", [4]byte{0xa5, 0xc8, 0xb7, 0xa1}},
		{contracts.Anchor, "acceptPublisher()", [4]byte{0x64, 0x78, 0xb9, 0xd9}},
	} {
		got, ok := c.contract.Selectors[c.signature]
		if !ok || got != c.want {
			t.Errorf("%s %s: selector %x (there: %t), want %x", c.contract.Name, c.signature, got, ok, c.want)
		}
		if hash := keccak([]byte(c.signature)); [4]byte(hash[:4]) != c.want {
			t.Errorf("%s: wanted selector %x is not the hash of its signature, %x", c.signature, c.want, hash[:4])
		}
	}
}

// The ABI and the selectors are two outputs of the compiler; they must tell of
// the same functions.
func TestABINamesEverySelector(t *testing.T) {
	for _, c := range all {
		var entries []entry
		if err := json.Unmarshal(c.ABI, &entries); err != nil {
			t.Fatalf("%s: read ABI: %v", c.Name, err)
		}
		var fromABI, fromSelectors []string
		for _, e := range entries {
			if e.Type == "function" {
				fromABI = append(fromABI, e.Name+types(e.Inputs))
			}
		}
		for signature := range c.Selectors {
			fromSelectors = append(fromSelectors, signature)
		}
		slices.Sort(fromABI)
		slices.Sort(fromSelectors)
		if !slices.Equal(fromABI, fromSelectors) {
			t.Errorf("%s: ABI has\n%v\nselectors have\n%v", c.Name, fromABI, fromSelectors)
		}
	}
}

// Readers refuse a getAgent answer that is not 224 bytes: seven static words.
func TestGetAgentIsSevenStaticWords(t *testing.T) {
	var entries []entry
	if err := json.Unmarshal(contracts.Registry.ABI, &entries); err != nil {
		t.Fatalf("read ABI: %v", err)
	}
	for _, e := range entries {
		if e.Name == "getAgent" {
			if got := types(e.Outputs); got != "((bytes32,address,bytes32,bytes32,bytes32,uint256,uint256))" {
				t.Errorf("getAgent returns %s", got)
			}
			return
		}
	}
	t.Error("the ABI has no getAgent")
}

// The event that proofs are found by keeps its topic.
func TestAnchorPublishedTopic(t *testing.T) {
	var entries []entry
	if err := json.Unmarshal(contracts.Anchor.ABI, &entries); err != nil {
		t.Fatalf("read ABI: %v", err)
	}
	for _, e := range entries {
		if e.Name == "AnchorPublished" {
			if got := types(e.Inputs); got != "(bytes32,bytes32,uint64,uint64,uint64)" {
				t.Errorf("AnchorPublished is over %s", got)
			}
			for i, in := range e.Inputs {
				if in.Indexed != (i == 0) {
					t.Errorf("AnchorPublished: %s indexed: %t", in.Name, in.Indexed)
				}
			}
			return
		}
	}
	t.Error("the ABI has no AnchorPublished")
}

func TestDeployData(t *testing.T) {
	account := [20]byte{0: 0xaa, 19: 0xbb}
	for _, c := range all {
		data := c.DeployData(account)
		want := append(bytes.Clone(c.Bytecode), make([]byte, 32)...)
		copy(want[len(want)-20:], account[:])
		if !bytes.Equal(data, want) {
			t.Errorf("%s: deploy data is not the bytecode and one address word", c.Name)
		}
		if len(c.Bytecode) > 49152 {
			t.Errorf("%s: %d bytes of creation code, a chain takes 49152", c.Name, len(c.Bytecode))
		}
	}
}

// The creation code ends in the code it deploys, immutables still zero.
func TestIsRuntime(t *testing.T) {
	for _, c := range all {
		code := bytes.Clone(c.Bytecode[len(c.Bytecode)-c.RuntimeSize:])
		if !c.IsRuntime(code) {
			t.Fatalf("%s: its own code is refused", c.Name)
		}
		for _, s := range c.Immutables {
			for i := range s.Length {
				code[s.Start+i] = 0xab
			}
		}
		if !c.IsRuntime(code) {
			t.Errorf("%s: code with immutables written is refused", c.Name)
		}
		for i := range code {
			if inSpan(c.Immutables, i) {
				continue
			}
			code[i] ^= 1
			if c.IsRuntime(code) {
				t.Fatalf("%s: code with byte %d changed is taken", c.Name, i)
			}
			code[i] ^= 1
		}
		for _, other := range [][]byte{nil, code[1:], append(bytes.Clone(code), 0)} {
			if c.IsRuntime(other) {
				t.Errorf("%s: code of %d bytes is taken", c.Name, len(other))
			}
		}
	}
}

type entry struct {
	Type, Name      string
	Inputs, Outputs []argument
}

type argument struct {
	Name, Type string
	Indexed    bool
	Components []argument
}

// types writes arguments as a canonical signature has them.
func types(arguments []argument) string {
	names := make([]string, len(arguments))
	for i, a := range arguments {
		names[i] = a.Type
		if suffix, ok := strings.CutPrefix(a.Type, "tuple"); ok {
			names[i] = types(a.Components) + suffix
		}
	}
	return "(" + strings.Join(names, ",") + ")"
}

func inSpan(spans []contracts.Span, i int) bool {
	return slices.ContainsFunc(spans, func(s contracts.Span) bool { return i >= s.Start && i < s.Start+s.Length })
}

func keccak(data []byte) [32]byte {
	state := sha3.NewLegacyKeccak256()
	state.Write(data)
	return [32]byte(state.Sum(nil))
}
