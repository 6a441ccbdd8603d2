package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/robotmoney/mcp/shared/domain/execution"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/chain"
)

// receipt is a transaction's receipt as nodes write it.
type receipt struct {
	TransactionHash string     `json:"transactionHash"`
	Status          string     `json:"status"`
	BlockNumber     string     `json:"blockNumber"`
	BlockHash       string     `json:"blockHash"`
	Logs            []logEntry `json:"logs"`
}

// logEntry is what a contract said in a transaction.
type logEntry struct {
	Address string   `json:"address"`
	Topics  []string `json:"topics"`
	Data    string   `json:"data"`
}

// transferred is the topic of Transfer(address,address,uint256).
var transferred = identity.Keccak([]byte("Transfer(address,address,uint256)"))

// Mined reads the transfer's receipt, and whether its block is final and still the
// one at its height.
func (k *token) Mined(ctx context.Context, hash identity.Hash, to identity.Address, amount *big.Int) (execution.Mined, error) {
	from, err := k.Account(ctx)
	if err != nil {
		return execution.Mined{}, err
	}
	found, err := k.receipt(ctx, hash)
	if err != nil || found == nil {
		return execution.Mined{}, err
	}
	number, err := chain.ParseQuantity(found.BlockNumber)
	if err != nil {
		return execution.Mined{}, fmt.Errorf("the receipt of %s: %w", hash, err)
	}
	m := execution.Mined{Found: true, Block: number, Reverted: found.Status == "0x0"}
	m.Moved = found.Status == "0x1" && found.moved(k.address, from, to, amount)
	last, err := k.height(ctx, "finalized")
	if err != nil || last.number < number {
		return m, err
	}
	kept, err := k.height(ctx, chain.FormatQuantity(number))
	m.Final = err == nil && kept.hash == found.BlockHash
	return m, err
}

// receipt asks for a receipt, nil when there is none yet.
func (k *token) receipt(ctx context.Context, hash identity.Hash) (*receipt, error) {
	var found *receipt
	err := k.client.Read(ctx, func(result json.RawMessage) error {
		found = nil
		if err := json.Unmarshal(result, &found); err != nil {
			return errors.New("the receipt is not what was asked for")
		}
		if found == nil {
			return nil
		}
		if of, err := identity.ParseHash(found.TransactionHash); err != nil || of != hash {
			return errors.New("the receipt is of another transaction")
		}
		if found.Status != "0x0" && found.Status != "0x1" {
			return fmt.Errorf("the receipt has status %.20q, want 0x0 or 0x1", found.Status)
		}
		return nil
	}, "eth_getTransactionReceipt", hash.String())
	if err != nil {
		return nil, fmt.Errorf("read the receipt of %s: %w", hash, err)
	}
	return found, nil
}

// moved says whether the token has said that it moved just this amount between
// just these accounts. A contract that returns false instead has not.
func (r receipt) moved(token, from, to identity.Address, amount *big.Int) bool {
	for _, entry := range r.Logs {
		at, err := identity.ParseAddress(entry.Address)
		if err != nil || at != token || len(entry.Topics) != 3 || entry.Topics[0] != transferred.String() {
			continue
		}
		said, err := identity.ParseHash(entry.Data)
		if err == nil && entry.Topics[1] == padded(from).String() && entry.Topics[2] == padded(to).String() && new(big.Int).SetBytes(said[:]).Cmp(amount) == 0 {
			return true
		}
	}
	return false
}

// padded is an address as a word.
func padded(a identity.Address) (word identity.Hash) {
	copy(word[12:], a[:])
	return word
}

// block is a block's place and name.
type block struct {
	number uint64
	hash   string
}

// height reads the block at a height or a tag.
func (k *token) height(ctx context.Context, at string) (block, error) {
	var b block
	err := k.client.Read(ctx, func(result json.RawMessage) error {
		var head *struct {
			Number string `json:"number"`
			Hash   string `json:"hash"`
		}
		if err := json.Unmarshal(result, &head); err != nil || head == nil {
			return errors.New("there is no such block")
		}
		number, err := chain.ParseQuantity(head.Number)
		b = block{number, head.Hash}
		return err
	}, "eth_getBlockByNumber", at, false)
	if err != nil {
		return b, fmt.Errorf("read the block %s: %w", at, err)
	}
	return b, nil
}
