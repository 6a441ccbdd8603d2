package tx

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/chain"
)

// Receipt is what became of a transaction that is in a block. A block can still
// be replaced until it is final.
type Receipt struct {
	Hash     identity.Hash
	Block    uint64        // number
	GasUsed  uint64        // units
	Contract chain.Address // the created contract, zero for a call
}

// Wait looks for the receipt at the configured interval until it is there or ctx
// ends: give ctx a deadline, a transaction can stay out for ever. A reverted
// transaction is a *RevertError, with the receipt beside it. An endpoint that
// fails meanwhile is asked again.
func (t *Transactor) Wait(ctx context.Context, hash identity.Hash) (Receipt, error) {
	tick := time.NewTicker(t.poll)
	defer tick.Stop()
	for {
		found, err := t.outcome(ctx, hash)
		switch {
		case found != nil && found.reverted:
			return found.Receipt, t.reason(ctx, found.Receipt)
		case found != nil:
			return found.Receipt, nil
		}
		select {
		case <-ctx.Done():
			return Receipt{Hash: hash}, fmt.Errorf("wait for transaction %s: %w", hash, errors.Join(ctx.Err(), err))
		case <-tick.C:
		}
	}
}

// outcome is a receipt and its status.
type outcome struct {
	Receipt
	reverted bool
}

// outcome looks for the receipt once; nil means that there is none yet.
func (t *Transactor) outcome(ctx context.Context, hash identity.Hash) (found *outcome, err error) {
	err = t.client.Read(ctx, func(result json.RawMessage) error {
		var r *wireReceipt
		if err := json.Unmarshal(result, &r); err != nil {
			return errors.New("the receipt is not what was asked for")
		}
		if r == nil {
			return nil
		}
		var err error
		found, err = r.read(hash)
		return err
	}, "eth_getTransactionReceipt", hash.String())
	return found, err
}

type wireReceipt struct {
	TransactionHash string  `json:"transactionHash"`
	Status          string  `json:"status"`
	BlockNumber     string  `json:"blockNumber"`
	GasUsed         string  `json:"gasUsed"`
	ContractAddress *string `json:"contractAddress"`
}

func (r *wireReceipt) read(hash identity.Hash) (*outcome, error) {
	of, err := identity.ParseHash(r.TransactionHash)
	if err != nil || of != hash {
		return nil, errors.New("the receipt is of another transaction")
	}
	block, blockErr := chain.ParseQuantity(r.BlockNumber)
	gas, gasErr := chain.ParseQuantity(r.GasUsed)
	if err := errors.Join(blockErr, gasErr); err != nil {
		return nil, fmt.Errorf("the receipt: %w", err)
	}
	receipt := Receipt{Hash: hash, Block: block, GasUsed: gas}
	if r.ContractAddress != nil {
		if receipt.Contract, err = chain.ParseAddress(*r.ContractAddress); err != nil {
			return nil, fmt.Errorf("the receipt: %w", err)
		}
	}
	if r.Status != "0x0" && r.Status != "0x1" {
		return nil, fmt.Errorf("the receipt has status %.20q, want 0x0 or 0x1", r.Status)
	}
	return &outcome{Receipt: receipt, reverted: r.Status == "0x0"}, nil
}

// sent is a transaction as a node knows it.
type sent struct {
	Hash  string  `json:"hash"`
	From  string  `json:"from"`
	To    *string `json:"to,omitempty"`
	Gas   string  `json:"gas"`
	Input string  `json:"input"`
}

// lookUp asks for a transaction, nil when the node does not know it.
func lookUp(ctx context.Context, client *chain.Client, hash identity.Hash) (*sent, error) {
	var found *sent
	err := client.Read(ctx, func(result json.RawMessage) error {
		found = nil
		if err := json.Unmarshal(result, &found); err != nil {
			return errors.New("the transaction is not what was asked for")
		}
		if found == nil {
			return nil
		}
		if of, err := identity.ParseHash(found.Hash); err != nil || of != hash {
			return errors.New("it answered with another transaction")
		}
		return nil
	}, "eth_getTransactionByHash", hash.String())
	if err != nil {
		return nil, err
	}
	return found, nil
}
