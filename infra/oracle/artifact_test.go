package oracle_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"

	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

// compiled is the ABI that the compiler made of the registry contract.
func compiled(t *testing.T) abi.ABI {
	t.Helper()
	raw, err := os.ReadFile("../contracts/artifacts/BrainMCPAgentRegistry.json")
	ok(t, err)
	var artifact struct {
		ABI abi.ABI `json:"abi"`
	}
	ok(t, json.Unmarshal(raw, &artifact))
	return artifact.ABI
}

// The signatures that our code spells out must be the compiled contract's: a
// selector of a function that is not there calls nothing.
func TestSelectorsAreTheCompiledContracts(t *testing.T) {
	contract := compiled(t)
	for _, signature := range []string{
		"setTenantSigner(bytes32,address,bool,bytes)", "registerAgent(bytes32,address,bytes32,bytes32,bytes32,bytes)",
		"updateBehaviorHash(bytes32,bytes32,bytes)", "revokeAgent(bytes32,bytes)", "nonces(bytes32)",
		"isTenantSigner(bytes32,address)", "getAgent(bytes32)",
	} {
		selector := chain.Selector(signature)
		method, err := contract.MethodById(selector[:])
		if err != nil || method.Sig != signature {
			t.Errorf("%s: the contract has no such function (%v)", signature, err)
		}
	}
}

// Every custom error of the contract has a name for people.
func TestRevertsAreTheCompiledContracts(t *testing.T) {
	contract := compiled(t)
	for _, signature := range tx.RegistryReverts {
		selector := chain.Selector(signature)
		if found, err := contract.ErrorByID(selector); err != nil || found.Sig != signature {
			t.Errorf("%s: the contract has no such error (%v)", signature, err)
		}
	}
	// The constructor's own, which short constant names cannot raise.
	unreachable := []string{"InvalidShortString()", "StringTooLong(string)"}
	for _, raised := range contract.Errors {
		if !slices.Contains(tx.RegistryReverts, raised.Sig) && !slices.Contains(unreachable, raised.Sig) {
			t.Errorf("%s: an error without a name in RegistryReverts", raised.Sig)
		}
	}
}
