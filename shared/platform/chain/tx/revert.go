package tx

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/chain"
)

// RevertError says that a contract refused. It hides the endpoints' errors, whose
// code would say that the chain is unavailable and a retry may help. Reason is for people: the text of
// require, the name of a custom error, or that none is known; Data is what the
// contract returned, nil when no node told.
type RevertError struct {
	Hash   identity.Hash // of the transaction, zero when it was refused before it was sent
	Reason string
	Data   []byte
}

// Error names the transaction, if there is one, and the reason.
func (e *RevertError) Error() string {
	if (e.Hash == identity.Hash{}) {
		return "the contract would revert: " + e.Reason
	}
	return fmt.Sprintf("transaction %s reverted: %s", e.Hash, e.Reason)
}

// named turns the JSON-RPC error of a revert into a *RevertError and leaves every
// other error alone.
func (t *Transactor) named(err error) error {
	var rpc *chain.RPCError
	if !errors.As(err, &rpc) {
		return err
	}
	data := revertData(rpc.Data)
	// Code 3 is geth's for a revert; other nodes only say so.
	if rpc.Code != 3 && data == nil && !strings.Contains(strings.ToLower(rpc.Message), "revert") {
		return err
	}
	return &RevertError{Reason: t.describe(data, rpc.Message), Data: data}
}

// revertData finds the returned bytes in a JSON-RPC error's data: a string on
// most nodes, inside an object on others.
func revertData(raw json.RawMessage) []byte {
	if data, err := chain.ParseData(raw); err == nil {
		return data
	}
	var wrapped struct {
		Data json.RawMessage `json:"data"`
	}
	if json.Unmarshal(raw, &wrapped) != nil {
		return nil
	}
	data, err := chain.ParseData(wrapped.Data)
	if err != nil {
		return nil
	}
	return data
}

// reason finds out why a transaction in a block reverted, by calling again what
// it called, on the state its block left behind. That may succeed, when
// something later in the block changed it: then no reason is known.
func (t *Transactor) reason(ctx context.Context, receipt Receipt) error {
	unknown := &RevertError{Hash: receipt.Hash, Reason: "no reason is known"}
	found, err := lookUp(ctx, t.client, receipt.Hash)
	if err != nil || found == nil {
		return unknown
	}
	call := map[string]string{"from": found.From, "data": found.Input}
	if found.Gas != "" {
		call["gas"] = found.Gas // running out of gas is a reason too
	}
	if found.To != nil {
		call["to"] = *found.To
	}
	ignore := func(json.RawMessage) error { return nil }
	err = t.client.Read(ctx, ignore, "eth_call", call, chain.FormatQuantity(receipt.Block))
	var rpc *chain.RPCError
	if !errors.As(err, &rpc) {
		return unknown
	}
	data := revertData(rpc.Data)
	return &RevertError{Hash: receipt.Hash, Reason: t.describe(data, rpc.Message), Data: data}
}

// The two errors the compiler itself makes: Error(string) of require and revert,
// Panic(uint256) of a failed assertion or arithmetic.
var (
	errorSelector = chain.Selector("Error(string)")
	panicSelector = chain.Selector("Panic(uint256)")
)

// describe words the returned bytes; without any it quotes the node.
func (t *Transactor) describe(data []byte, message string) string {
	if len(data) < 4 {
		if message == "" {
			return "no reason was given"
		}
		return fmt.Sprintf("the node says %q", message)
	}
	selector, arguments := [4]byte(data), data[4:]
	if text, ok := errorText(arguments); ok && selector == errorSelector {
		return fmt.Sprintf("%.200q", text)
	}
	if selector == panicSelector && len(arguments) == 32 {
		return fmt.Sprintf("panic 0x%02x", arguments[31])
	}
	if signature, ok := t.reverts[selector]; ok {
		return signature
	}
	return "custom error 0x" + hex.EncodeToString(selector[:])
}

// errorText reads the ABI encoding of one string, bounded by what is there.
func errorText(arguments []byte) (string, bool) {
	if len(arguments) < 64 || uintWord(32) != [32]byte(arguments[:32]) {
		return "", false
	}
	length := binary.BigEndian.Uint64(arguments[56:64])
	if uintWord(length) != [32]byte(arguments[32:64]) || length > uint64(len(arguments)-64) {
		return "", false
	}
	return string(arguments[64 : 64+length]), true
}
