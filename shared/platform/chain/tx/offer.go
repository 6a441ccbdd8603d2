package tx

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/chain"
)

// ErrUnknown says that a transaction was refused and is in no block and no pool.
var ErrUnknown = errors.New("the chain does not know it")

// Offer sends a raw transaction, in hexadecimal after 0x. A node that took it and
// whose reply was lost, or that had it from another node before, refuses it the
// second time: then the chain is asked whether it knows the transaction.
func Offer(ctx context.Context, client *chain.Client, hash identity.Hash, raw string) error {
	refused := client.Read(ctx, func(result json.RawMessage) error {
		answered, err := chain.ParseData(result)
		if err != nil || string(answered) != string(hash[:]) {
			return errors.New("it answered with another transaction's hash")
		}
		return nil
	}, "eth_sendRawTransaction", raw)
	if refused == nil {
		return nil
	}
	known, err := lookUp(ctx, client, hash)
	switch {
	case err == nil && known != nil:
		return nil
	case err == nil:
		refused = fmt.Errorf("%w: %w", ErrUnknown, refused)
	}
	return fmt.Errorf("send transaction %s: %w", hash, refused)
}
