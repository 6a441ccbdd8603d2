// Package contract reaches the contract BrainAuditAnchor over JSON-RPC: it signs
// transactions that publish roots, offers them, and reads what the chain says of
// them.
package contract

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/robotmoney/mcp/shared/domain/anchor"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

// The contract as it is called. One letter changed here and it is another.
const (
	anchorBatch  = "anchorBatch((bytes32,bytes32,uint64,uint64,uint64,uint64,uint64)[])"
	anchorOf     = "anchorOf(bytes32,bytes32)"
	publishedLog = "AnchorPublished(bytes32,bytes32,uint64,uint64,uint64)"
)

// Config says which contract, through whom, and who publishes.
type Config struct {
	Client   *chain.Client
	Contract chain.Address
	// Signer holds the publisher's key. It is asked for when something is to be
	// signed: a key service that is away keeps nothing else from being done.
	Signer   func(context.Context) (tx.Signer, error)
	Poll     time.Duration // between two looks for a receipt
	Patience time.Duration // for how long a receipt is looked for
	FeeCap   *big.Int      // refuse to pay more for a unit of gas, wei; nil is 500 gwei
}

// Contract is the contract. It implements anchor.Chain.
type Contract struct{ Config }

var _ anchor.Chain = (*Contract)(nil)

// New makes one and asks nothing.
func New(c Config) *Contract {
	if c.FeeCap == nil {
		c.FeeCap = big.NewInt(500e9)
	}
	return &Contract{c}
}

// Place is the chain and the contract's address.
func (c *Contract) Place() anchor.Place {
	return anchor.Place{ChainID: c.Client.ChainID(), Contract: c.Contract.String()}
}

// Published reads the root's record at the latest block, and finds the
// transaction that wrote it by the log of its block. It is nil for a root that is
// not published.
func (c *Contract) Published(ctx context.Context, r anchor.Root) (*anchor.Mined, error) {
	var block uint64
	call := tx.Function(anchorOf).Bytes32(r.Tenant).Bytes32(r.Root).Encode()
	err := c.Client.Call(ctx, c.Contract, call, func(returned []byte) (err error) {
		block, err = blockOf(returned, r.Root)
		return err
	})
	if err != nil || block == 0 {
		return nil, err
	}
	var hash identity.Hash
	filter := map[string]any{
		"address": c.Contract.String(), "fromBlock": chain.FormatQuantity(block), "toBlock": chain.FormatQuantity(block),
		"topics": []string{topic.String(), r.Tenant.String()},
	}
	err = c.Client.Read(ctx, func(result json.RawMessage) error {
		var logs []wireLog
		if err := json.Unmarshal(result, &logs); err != nil {
			return errors.New("the logs are not what was asked for")
		}
		for _, l := range logs {
			if tenant, root, ok := l.published(c.Contract); ok && tenant == r.Tenant && root == r.Root {
				hash = l.TransactionHash
				return nil
			}
		}
		return errors.New("the block holds no log of the root")
	}, "eth_getLogs", filter)
	if err != nil {
		return nil, err
	}
	return &anchor.Mined{Hash: hash, Block: block, Published: map[identity.Hash]identity.Hash{r.Tenant: r.Root}}, nil
}

// recordWords is the number of fields of the contract's AnchorRecord: root,
// eventCount, periodStart, periodEnd, firstSeq, lastSeq, publishedAt, blockNumber.
const recordWords = 8

// blockOf reads the block of a record, 0 for one that is not there. An address
// without code returns nothing at all, which is no answer.
func blockOf(returned []byte, root identity.Hash) (uint64, error) {
	if len(returned) != recordWords*32 {
		return 0, fmt.Errorf("anchorOf returned %d bytes, want %d: is the contract at this address?", len(returned), recordWords*32)
	}
	if !slices.ContainsFunc(returned, func(b byte) bool { return b != 0 }) {
		return 0, nil
	}
	block := binary.BigEndian.Uint64(returned[len(returned)-8:])
	if identity.Hash(returned[:32]) != root || block == 0 {
		return 0, errors.New("anchorOf returned another record")
	}
	return block, nil
}

// Finalized is the number of the block that the chain calls finalized.
func (c *Contract) Finalized(ctx context.Context) (number uint64, err error) {
	err = c.Client.Read(ctx, func(result json.RawMessage) (err error) {
		var block *struct {
			Number string `json:"number"`
		}
		if json.Unmarshal(result, &block) != nil || block == nil {
			return errors.New("there is no finalized block")
		}
		number, err = chain.ParseQuantity(block.Number)
		return err
	}, "eth_getBlockByNumber", "finalized", false)
	return number, err
}

// Wait looks for a receipt until there is one or patience ends.
func (c *Contract) Wait(ctx context.Context, hashes ...identity.Hash) (*anchor.Mined, error) {
	patient, cancel := context.WithTimeout(ctx, c.Patience)
	defer cancel()
	tick := time.NewTicker(c.Poll)
	defer tick.Stop()
	for {
		mined, err := c.Find(patient, hashes...)
		if mined != nil {
			return mined, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-patient.Done():
			if errors.Is(err, context.DeadlineExceeded) {
				err = nil // the endpoint was well; only the time is up
			}
			return nil, err
		case <-tick.C:
		}
	}
}

// Find looks once for the receipts.
func (c *Contract) Find(ctx context.Context, hashes ...identity.Hash) (*anchor.Mined, error) {
	for _, hash := range hashes {
		var found *anchor.Mined
		err := c.Client.Read(ctx, func(result json.RawMessage) (err error) {
			found, err = c.receipt(result, hash)
			return err
		}, "eth_getTransactionReceipt", hash.String())
		if err != nil || found != nil {
			return found, err
		}
	}
	return nil, nil
}

// topic is the first topic of the log of a published root.
var topic = identity.Keccak([]byte(publishedLog))

type wireLog struct {
	Address         string          `json:"address"`
	Topics          []identity.Hash `json:"topics"`
	Data            string          `json:"data"`
	TransactionHash identity.Hash   `json:"transactionHash"`
}

// published is the root a log of the contract tells of.
func (l wireLog) published(contract chain.Address) (tenant, root identity.Hash, ok bool) {
	data, err := chain.ParseData(json.RawMessage(`"` + l.Data + `"`))
	from, fromErr := chain.ParseAddress(l.Address)
	if err != nil || fromErr != nil || from != contract || len(l.Topics) != 2 || l.Topics[0] != topic || len(data) != 4*32 {
		return tenant, root, false
	}
	return l.Topics[1], identity.Hash(data[:32]), true
}

// receipt reads a receipt, nil when there is none yet.
func (c *Contract) receipt(result json.RawMessage, hash identity.Hash) (*anchor.Mined, error) {
	var r *struct {
		TransactionHash identity.Hash `json:"transactionHash"`
		Status          string        `json:"status"`
		BlockNumber     string        `json:"blockNumber"`
		Logs            []wireLog     `json:"logs"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return nil, errors.New("the receipt is not what was asked for")
	}
	if r == nil {
		return nil, nil
	}
	block, err := chain.ParseQuantity(r.BlockNumber)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the receipt: %w", err)
	case r.TransactionHash != hash:
		return nil, errors.New("the receipt is of another transaction")
	case r.Status != "0x0" && r.Status != "0x1":
		return nil, fmt.Errorf("the receipt has status %.20q, want 0x0 or 0x1", r.Status)
	}
	mined := &anchor.Mined{Hash: hash, Block: block, Reverted: r.Status == "0x0", Published: map[identity.Hash]identity.Hash{}}
	for _, l := range r.Logs {
		if tenant, root, ok := l.published(c.Contract); ok {
			mined.Published[tenant] = root
		}
	}
	return mined, nil
}
