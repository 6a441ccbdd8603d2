// Package contracts holds the compiled contracts, so that Go programs deploy and
// call them with no Solidity compiler and no Node at hand. The artefacts are
// written by `infra/contracts/check --write`; the same script without an
// argument fails when they are not the compile of the sources.
package contracts

import (
	_ "embed" // the artefacts
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/sha3"
)

var (
	//go:embed artifacts/BrainMCPAgentRegistry.json
	registryArtifact []byte
	//go:embed artifacts/BrainAuditAnchor.json
	anchorArtifact []byte
)

// The compiled contracts. Treat them as read-only.
var (
	Registry = mustParse(registryArtifact) // BrainMCPAgentRegistry
	Anchor   = mustParse(anchorArtifact)   // BrainAuditAnchor
)

// Contract is one compiled contract.
type Contract struct {
	Name     string          // as in the source
	Compiler string          // full version of solc
	ABI      json.RawMessage // the JSON ABI, an array
	Bytecode []byte          // creation code, without constructor arguments

	// Selectors has the first four bytes of a call by the function's canonical
	// signature, for example "getAgent(bytes32)".
	Selectors map[string][4]byte

	// RuntimeHash is the Keccak-256 of the deployed code with the bytes of every
	// immutable set to zero, and RuntimeSize the length of that code in bytes.
	RuntimeHash [32]byte
	RuntimeSize int
	Immutables  []Span // where a deployment writes its own values
}

// Span is a run of bytes in the deployed code.
type Span struct {
	Start  int `json:"start"`
	Length int `json:"length"`
}

// DeployData is the data of the transaction that deploys the contract. Both
// constructors take one account: the registry its admin, the anchor contract its
// first publisher.
func (c Contract) DeployData(account [20]byte) []byte {
	data := make([]byte, 0, len(c.Bytecode)+32)
	data = append(data, c.Bytecode...)
	data = append(data, make([]byte, 12)...) // an address is the low end of its word
	return append(data, account[:]...)
}

// IsRuntime says whether code, as eth_getCode gives it, is this contract
// deployed with whatever constructor argument.
func (c Contract) IsRuntime(code []byte) bool {
	if len(code) != c.RuntimeSize {
		return false
	}
	blank := slices.Clone(code)
	for _, s := range c.Immutables {
		clear(blank[s.Start : s.Start+s.Length])
	}
	return keccak(blank) == c.RuntimeHash
}

// mustParse panics on an artefact that is not whole: it is part of the program,
// so that is a broken build and shows in the first test that links it.
func mustParse(artifact []byte) Contract {
	c, err := parse(artifact)
	if err != nil {
		panic(fmt.Sprintf("contracts: read embedded artefact: %v", err))
	}
	return c
}

func parse(artifact []byte) (Contract, error) {
	var file struct {
		ContractName string            `json:"contractName"`
		Compiler     string            `json:"compiler"`
		ABI          json.RawMessage   `json:"abi"`
		Bytecode     string            `json:"bytecode"`
		Selectors    map[string]string `json:"selectors"`
		RuntimeHash  string            `json:"runtimeHash"`
		RuntimeSize  int               `json:"runtimeSize"`
		Immutables   []Span            `json:"immutables"`
	}
	if err := json.Unmarshal(artifact, &file); err != nil {
		return Contract{}, err
	}
	c := Contract{
		Name:        file.ContractName,
		Compiler:    file.Compiler,
		ABI:         file.ABI,
		Selectors:   make(map[string][4]byte, len(file.Selectors)),
		RuntimeSize: file.RuntimeSize,
		Immutables:  file.Immutables,
	}
	var err error
	if c.Bytecode, err = unhex(file.Bytecode); err != nil {
		return Contract{}, fmt.Errorf("bytecode of %s: %w", c.Name, err)
	}
	if err := unhexInto(c.RuntimeHash[:], file.RuntimeHash); err != nil {
		return Contract{}, fmt.Errorf("runtime hash of %s: %w", c.Name, err)
	}
	for signature, text := range file.Selectors {
		var selector [4]byte
		if err := unhexInto(selector[:], text); err != nil {
			return Contract{}, fmt.Errorf("selector of %s: %w", signature, err)
		}
		c.Selectors[signature] = selector
	}
	for _, s := range c.Immutables {
		if s.Start < 0 || s.Length < 0 || s.Start+s.Length > c.RuntimeSize {
			return Contract{}, fmt.Errorf("immutable of %s at %d lies outside of its code", c.Name, s.Start)
		}
	}
	return c, nil
}

func unhex(text string) ([]byte, error) {
	digits, ok := strings.CutPrefix(text, "0x")
	if !ok || digits == "" {
		return nil, fmt.Errorf("%.20q: want 0x and hexadecimal digits", text)
	}
	return hex.DecodeString(digits)
}

func unhexInto(dst []byte, text string) error {
	b, err := unhex(text)
	if err != nil {
		return err
	}
	if len(b) != len(dst) {
		return fmt.Errorf("%d bytes, want %d", len(b), len(dst))
	}
	copy(dst, b)
	return nil
}

func keccak(data []byte) [32]byte {
	state := sha3.NewLegacyKeccak256()
	state.Write(data)
	return [32]byte(state.Sum(nil))
}
