package execution

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"time"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// Chain is what the onchain rail asks of a chain: transfers of one token from one
// account.
type Chain interface {
	ID() uint64
	// Account is who pays. It fails where the key cannot be asked.
	Account(ctx context.Context) (identity.Address, error)
	Token() identity.Address
	// Pending is the account's next nonce, transfers that wait for a block counted.
	Pending(ctx context.Context) (uint64, error)
	// Sign makes a transfer of an amount in the token's smallest unit. A *Refusal
	// says that the contract would refuse it.
	Sign(ctx context.Context, nonce uint64, to identity.Address, amount *big.Int) (hash identity.Hash, raw []byte, err error)
	// Offer hands a signed transfer to the nodes. One they know is no error.
	Offer(ctx context.Context, hash identity.Hash, raw []byte) error
	// Mined says what became of a transfer.
	Mined(ctx context.Context, hash identity.Hash, to identity.Address, amount *big.Int) (Mined, error)
	// Await waits about as long as a block takes, or until ctx ends.
	Await(ctx context.Context) error
}

// Mined is what a chain says of a transfer.
type Mined struct {
	Found    bool   // it is in a block
	Final    bool   // the block cannot be replaced any more
	Reverted bool   // it is in a block and moved nothing
	Moved    bool   // the token says that it moved this amount from us to whom it was for
	Block    uint64 // number
}

// Onchain is the rail of token transfers. A transfer's nonce and its signed bytes
// are made before the dispatch and kept with it: whatever happens, one intent has
// one transfer that the chain can take, and the chain takes it once.
type Onchain struct {
	Chain Chain
	Store record.Store
	Now   func() time.Time
	Looks int // how often it waits for a block before it asks to be called again
}

// Name is onchain.
func (Onchain) Name() string { return "onchain" }

// transfer is a prepared transfer as it is kept.
type transfer struct {
	ChainID uint64        `json:"chain_id"`
	Token   string        `json:"token"`
	From    string        `json:"from"`
	To      string        `json:"to"`
	Nonce   uint64        `json:"nonce"`
	Hash    identity.Hash `json:"hash"`
	Raw     string        `json:"raw"` // hexadecimal, as it is sent
}

// Prepare takes the account's next nonce and signs. The nonce is taken in the
// dispatch's transaction: two dispatches at once cannot have the same, or one
// would replace the other on the chain.
func (o Onchain) Prepare(ctx context.Context, order Order) (json.RawMessage, []record.Put, error) {
	to, err := order.recipient()
	if err != nil {
		return nil, nil, err
	}
	amount, err := order.Payment.Money()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", order.IntentID, err)
	}
	from, err := o.Chain.Account(ctx)
	if err != nil {
		return nil, nil, err
	}
	at := key.Nonce(o.Chain.ID(), from.String())
	item, _, err := o.Store.Get(ctx, at)
	if err != nil {
		return nil, nil, err
	}
	var next uint64
	if item.Version > 0 {
		if err := json.Unmarshal(item.Body, &next); err != nil {
			return nil, nil, fmt.Errorf("decode the nonce of %s: %w", from, err)
		}
	}
	pending, err := o.Chain.Pending(ctx)
	if err != nil {
		return nil, nil, err
	}
	nonce := max(next, pending) // somebody may have used the account beside us
	hash, raw, err := o.Chain.Sign(ctx, nonce, to, minor(amount))
	if err != nil {
		return nil, nil, err
	}
	prepared, err := json.Marshal(transfer{
		ChainID: o.Chain.ID(), Token: o.Chain.Token().String(), From: from.String(), To: to.String(), Nonce: nonce, Hash: hash,
		Raw: hex.EncodeToString(raw),
	})
	if err != nil {
		return nil, nil, fmt.Errorf("encode the transfer of %s: %w", order.IntentID, err)
	}
	put := record.Put{Item: record.Item{Key: at, Body: []byte(strconv.FormatUint(nonce+1, 10))}, Was: item.Version}
	return prepared, []record.Put{put}, nil
}

// recipient is the address an order goes to: the one that the payment names, else
// the payee's own.
func (o Order) recipient() (identity.Address, error) {
	text := o.Payment.PayTo
	if text == nil {
		text = o.Creditor.Address
	}
	if text == nil {
		return identity.Address{}, &Refusal{"the payee has no address on the chain"}
	}
	to, err := identity.ParseAddress(*text)
	if err != nil || to.IsZero() {
		return identity.Address{}, &Refusal{"the payee's address on the chain is none"}
	}
	return to, nil
}

// Send looks for the transfer, offers it as it was signed while no block has it,
// and waits a little. It is settled or refused only when no other block can
// follow in the place of its own.
func (o Onchain) Send(ctx context.Context, order Order) (Receipt, error) {
	var t transfer
	if err := json.Unmarshal(order.Prepared, &t); err != nil {
		return Receipt{}, fmt.Errorf("decode the transfer of %s: %w", order.IntentID, err)
	}
	raw, err := hex.DecodeString(t.Raw)
	if err != nil {
		return Receipt{}, fmt.Errorf("decode the transfer of %s: %w", order.IntentID, err)
	}
	from, err := o.Chain.Account(ctx)
	if err != nil {
		return Receipt{}, err
	}
	if t.ChainID != o.Chain.ID() || t.Token != o.Chain.Token().String() || t.From != from.String() {
		return Receipt{}, errors.New("the transfer was made for another chain, token or account")
	}
	for look := 0; ; look++ {
		receipt, mined, err := o.look(ctx, order, t)
		if err != nil || receipt.Outcome != Accepted {
			return receipt, err
		}
		if !mined {
			if err := o.Chain.Offer(ctx, t.Hash, raw); err != nil {
				return Receipt{}, fmt.Errorf("offer the transfer of %s: %w", order.IntentID, err)
			}
		}
		if look >= o.Looks || o.Chain.Await(ctx) != nil {
			return receipt, nil
		}
	}
}

// look asks what became of a transfer.
func (o Onchain) look(ctx context.Context, order Order, t transfer) (receipt Receipt, mined bool, err error) {
	to, err := order.recipient()
	if err != nil {
		return Receipt{}, false, err
	}
	amount, err := order.Payment.Money()
	if err != nil {
		return Receipt{}, false, fmt.Errorf("%s: %w", order.IntentID, err)
	}
	m, err := o.Chain.Mined(ctx, t.Hash, to, minor(amount))
	if err != nil {
		return Receipt{}, false, err
	}
	receipt = order.receipt(o.Name(), Accepted)
	receipt.Reference, receipt.At, receipt.Again = t.Hash.String(), o.Now().UTC().Format(audit.TimeForm), true
	receipt.Detail = map[string]string{
		"tx_hash": t.Hash.String(), "chain_id": strconv.FormatUint(t.ChainID, 10), "token": t.Token, "from": t.From, "to": t.To,
	}
	if m.Found {
		receipt.Detail["block_number"] = strconv.FormatUint(m.Block, 10)
	}
	switch {
	case !m.Found || !m.Final:
		return receipt, m.Found, nil
	case m.Reverted:
		receipt.Outcome, receipt.Reason = Refused, "the token's contract reverted the transfer"
	case m.Moved:
		receipt.Outcome = Done
	default:
		return Receipt{}, true, errors.New("the transfer is final and the token does not say that it moved anything")
	}
	return receipt, true, nil
}
