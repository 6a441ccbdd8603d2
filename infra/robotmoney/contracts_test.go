package main

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/robotmoney/mcp/infra/contracts"
	"github.com/robotmoney/mcp/infra/local/engine"
	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/shared/platform/chain"
)

// TestDeployContracts: both contracts are put on a chain, with the code that was
// compiled, and a command line that says too little sends nothing.
func TestDeployContracts(t *testing.T) {
	const owner = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
	stack, err := stackfile.Read(".")
	if err != nil {
		t.Fatal(err)
	}
	node, err := chain.New(chain.Config{Endpoints: []string{stack.RPCURL}, ChainID: engine.ChainID, Timeout: 10 * time.Second, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		contract contracts.Contract
		line     []string
	}{
		{contracts.Registry, []string{"registry", "deploy", "--admin", owner}},
		{contracts.Anchor, []string{"anchor", "deploy", "--publisher", owner}},
	} {
		made := must[struct{ Address, Owner string }](t, c.line...)
		var code []byte
		err := node.Read(t.Context(), func(result json.RawMessage) (err error) {
			code, err = chain.ParseData(result)
			return err
		}, "eth_getCode", made.Address, "latest")
		if err != nil || !c.contract.IsRuntime(code) {
			t.Errorf("%v: no such contract at %s: %v", c.line, made.Address, err)
		}
	}
	refused(t, exitUsage, "one of them", "anchor", "deploy")
	refused(t, exitUsage, "--publisher", "anchor", "deploy", "--publisher", "0x12")
	refused(t, exitUsage, "--admin", "registry", "deploy", "--admin", "me")
}
