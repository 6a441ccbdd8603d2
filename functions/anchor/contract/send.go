package contract

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/anchor"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

// Sign makes and signs the transaction that publishes the roots. The nonce comes
// from the chain, the transactions that wait counted in, or from the one it
// replaces.
func (c *Contract) Sign(ctx context.Context, roots []anchor.Root, again *anchor.Signed) (anchor.Signed, error) {
	signer, err := c.Signer(ctx)
	if err != nil {
		return anchor.Signed{}, fmt.Errorf("open the publisher's key: %w", err)
	}
	t := tx.Transaction{ChainID: c.Client.ChainID(), To: &c.Contract, Data: batchData(roots)}
	if t.Gas, err = c.estimate(ctx, signer.Address(), t.Data); err != nil {
		return anchor.Signed{}, err
	}
	if again != nil {
		t.Gas = max(t.Gas, again.Gas)
	}
	if t.Tip, t.MaxFee, err = c.fees(ctx, again); err != nil {
		return anchor.Signed{}, err
	}
	if again != nil {
		t.Nonce = again.Nonce
	} else if t.Nonce, err = c.Client.Quantity(ctx, "eth_getTransactionCount", signer.Address().String(), "pending"); err != nil {
		return anchor.Signed{}, fmt.Errorf("read the nonce of %s: %w", signer.Address(), err)
	}
	if err := c.funds(ctx, signer.Address(), t); err != nil {
		return anchor.Signed{}, err
	}
	signature, err := tx.Sign(ctx, signer, t.Digest())
	if err != nil {
		return anchor.Signed{}, err
	}
	raw := t.Signed(signature)
	return anchor.Signed{Hash: identity.Keccak(raw), Raw: chain.FormatData(raw), Nonce: t.Nonce, Gas: t.Gas, Fee: t.MaxFee.String()}, nil
}

// batchData is the data of a call of anchorBatch.
func batchData(roots []anchor.Root) []byte {
	items := new(tx.Args)
	for _, r := range roots {
		items.Bytes32(r.Tenant).Bytes32(r.Root).Uint(r.Last - r.First + 1).Uint(r.Start).Uint(r.End).Uint(r.First).Uint(r.Last)
	}
	return tx.Function(anchorBatch).Array(len(roots), items).Encode()
}

// estimate returns the estimated gas and a quarter more: the state the
// transaction meets is that of a later block, and a bare estimate runs out of gas
// there. It is made on the latest block. Some nodes would take the pending one,
// with the transaction that is to be replaced in it: that one publishes the roots,
// and what replaces it looks cheap.
func (c *Contract) estimate(ctx context.Context, from chain.Address, data []byte) (uint64, error) {
	call := map[string]string{"from": from.String(), "to": c.Contract.String(), "data": chain.FormatData(data)}
	gas, err := c.Client.Quantity(ctx, "eth_estimateGas", call, "latest")
	if err != nil {
		if says(err, "out of gas", "gas required exceeds", "exceeds block gas limit", "gas limit too high") {
			err = fmt.Errorf("%w: %w", anchor.ErrTooLarge, err)
		}
		return 0, fmt.Errorf("estimate gas: %w", err)
	}
	if gas += gas / 4; gas > tx.GasCap {
		return 0, fmt.Errorf("estimate gas: %d is above the %d a transaction may use: %w", gas, tx.GasCap, anchor.ErrTooLarge)
	}
	return gas, nil
}

// says tells whether an endpoint answered with an error of one of these words.
func says(err error, words ...string) bool {
	var answered *chain.RPCError
	if !errors.As(err, &answered) {
		return false
	}
	message := strings.ToLower(answered.Message)
	for _, word := range words {
		if strings.Contains(message, word) {
			return true
		}
	}
	return false
}

// fees are the tip and the most to pay for a unit of gas, in wei: twice the next
// block's base fee and the tip on top. What replaces a transaction must pay at
// least a tenth more of both, and pays a quarter more.
func (c *Contract) fees(ctx context.Context, again *anchor.Signed) (tip, most *big.Int, err error) {
	base, tip, err := tx.FeeHistory(ctx, c.Client)
	if err != nil {
		return nil, nil, fmt.Errorf("read the fee history: %w", err)
	}
	if least := big.NewInt(leastTip); tip.Cmp(least) < 0 {
		tip = least
	}
	least := new(big.Int).Add(base, tip)
	most = new(big.Int).Add(least, base)
	if again != nil {
		before, ok := new(big.Int).SetString(again.Fee, 10)
		if !ok {
			return nil, nil, fmt.Errorf("the fee %.80q is no number", again.Fee)
		}
		before.Add(before, new(big.Int).Div(before, big.NewInt(4))).Add(before, big.NewInt(1))
		if most.Cmp(before) < 0 {
			most = before
		}
		// Its tip is not known any more, and was below the most it would pay.
		tip = new(big.Int).Set(most)
		least = most
	}
	if least.Cmp(c.FeeCap) > 0 {
		return nil, nil, fmt.Errorf("gas costs %s wei a unit, above the cap of %s", least, c.FeeCap)
	}
	if most.Cmp(c.FeeCap) > 0 {
		most = new(big.Int).Set(c.FeeCap)
	}
	return tip, most, nil
}

// leastTip is the tip after a block without transactions, in wei: without any
// some producers leave a transaction out.
const leastTip = 1e6

// funds says whether the publisher can pay, before anything is written down: a
// node's refusal would come too late to be told from another.
func (c *Contract) funds(ctx context.Context, from chain.Address, t tx.Transaction) error {
	balance, err := c.Client.BigQuantity(ctx, "eth_getBalance", from.String(), "latest")
	if err != nil {
		return fmt.Errorf("read the balance of %s: %w", from, err)
	}
	need := new(big.Int).Mul(t.MaxFee, new(big.Int).SetUint64(t.Gas))
	if balance.Cmp(need) < 0 {
		return fmt.Errorf("the publisher %s has %s wei and the transaction may cost %s: send it funds", from, balance, need)
	}
	return nil
}

// Offer sends the raw transaction.
func (c *Contract) Offer(ctx context.Context, s anchor.Signed) error {
	err := tx.Offer(ctx, c.Client, s.Hash, s.Raw)
	if errors.Is(err, tx.ErrUnknown) && says(err, "nonce too low", "nonce is too low") {
		return fmt.Errorf("%w: %w", anchor.ErrSpent, err)
	}
	return err
}
