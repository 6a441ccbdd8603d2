package contract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/anchor"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

// gasCap is the most gas one transaction may ask for since Osaka (EIP-7825).
const gasCap = 1 << 24

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
	} else if t.Nonce, err = c.quantity(ctx, "eth_getTransactionCount", signer.Address().String(), "pending"); err != nil {
		return anchor.Signed{}, fmt.Errorf("read the nonce of %s: %w", signer.Address(), err)
	}
	if err := c.funds(ctx, signer.Address(), t); err != nil {
		return anchor.Signed{}, err
	}
	digest := t.Digest()
	signature := tx.Signature{}
	if signature.R, signature.S, signature.V, err = signer.Sign(ctx, digest); err != nil {
		return anchor.Signed{}, fmt.Errorf("sign as %s: %w", signer.Address(), err)
	}
	if signed, err := signature.Recover(digest); err != nil || signed != signer.Address() {
		return anchor.Signed{}, fmt.Errorf("sign as %s: the signature is not that key's", signer.Address())
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
	gas, err := c.quantity(ctx, "eth_estimateGas", call, "latest")
	if err != nil {
		if says(err, "out of gas", "gas required exceeds", "exceeds block gas limit", "gas limit too high") {
			err = fmt.Errorf("%w: %w", anchor.ErrTooLarge, err)
		}
		return 0, fmt.Errorf("estimate gas: %w", err)
	}
	if gas += gas / 4; gas > gasCap {
		return 0, fmt.Errorf("estimate gas: %d is above the %d a transaction may use: %w", gas, gasCap, anchor.ErrTooLarge)
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
	base, tip, err := c.history(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("read the fee history: %w", err)
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

// history reads the next block's base fee and the median tip of the last one.
func (c *Contract) history(ctx context.Context) (base, tip *big.Int, err error) {
	err = c.Client.Read(ctx, func(result json.RawMessage) error {
		var h struct {
			BaseFeePerGas []string   `json:"baseFeePerGas"`
			Reward        [][]string `json:"reward"`
		}
		n := 0
		if json.Unmarshal(result, &h) == nil {
			n = len(h.BaseFeePerGas)
		}
		// One block was asked for: its base fee, then the next block's. A node that
		// is just taking a block in may have one of the two only.
		if n != 1 && n != 2 {
			return errors.New("the fee history is not what was asked for")
		}
		var err error
		if base, err = wei(h.BaseFeePerGas[n-1]); err != nil {
			return err
		}
		tip = big.NewInt(leastTip)
		if len(h.Reward) != 1 || len(h.Reward[0]) != 1 {
			return nil
		}
		usual, err := wei(h.Reward[0][0])
		if err == nil && usual.Cmp(tip) > 0 {
			tip = usual
		}
		return err
	}, "eth_feeHistory", "0x1", "latest", []int{50})
	return base, tip, err
}

// leastTip is the tip after a block without transactions, in wei: without any
// some producers leave a transaction out.
const leastTip = 1e6

// wei reads a quantity of up to 256 bits.
func wei(text string) (*big.Int, error) {
	digits, ok := strings.CutPrefix(text, "0x")
	if !ok || digits == "" || len(digits) > 64 || strings.Trim(digits, "0123456789abcdefABCDEF") != "" {
		return nil, fmt.Errorf("quantity %.80q: want 0x and 1 to 64 hexadecimal digits", text)
	}
	n, _ := new(big.Int).SetString(digits, 16)
	return n, nil
}

// quantity reads a number that fits in 64 bits.
func (c *Contract) quantity(ctx context.Context, method string, params ...any) (n uint64, err error) {
	err = c.Client.Read(ctx, func(result json.RawMessage) (err error) {
		var text string
		if json.Unmarshal(result, &text) != nil {
			return errors.New("the quantity is not a string")
		}
		n, err = chain.ParseQuantity(text)
		return err
	}, method, params...)
	return n, err
}

// funds says whether the publisher can pay, before anything is written down: a
// node's refusal would come too late to be told from another.
func (c *Contract) funds(ctx context.Context, from chain.Address, t tx.Transaction) error {
	var balance *big.Int
	err := c.Client.Read(ctx, func(result json.RawMessage) (err error) {
		var text string
		if json.Unmarshal(result, &text) != nil {
			return errors.New("the balance is not a string")
		}
		balance, err = wei(text)
		return err
	}, "eth_getBalance", from.String(), "latest")
	if err != nil {
		return fmt.Errorf("read the balance of %s: %w", from, err)
	}
	need := new(big.Int).Mul(t.MaxFee, new(big.Int).SetUint64(t.Gas))
	if balance.Cmp(need) < 0 {
		return fmt.Errorf("the publisher %s has %s wei and the transaction may cost %s: send it funds", from, balance, need)
	}
	return nil
}

// Offer sends the raw transaction. A node that has it already refuses it, and is
// asked whether it does.
func (c *Contract) Offer(ctx context.Context, s anchor.Signed) error {
	refused := c.Client.Read(ctx, func(result json.RawMessage) error {
		var hash identity.Hash
		if json.Unmarshal(result, &hash) != nil || hash != s.Hash {
			return errors.New("it answered with another transaction's hash")
		}
		return nil
	}, "eth_sendRawTransaction", s.Raw)
	if refused == nil {
		return nil
	}
	known := false
	err := c.Client.Read(ctx, func(result json.RawMessage) error {
		var found *struct {
			Hash identity.Hash `json:"hash"`
		}
		if json.Unmarshal(result, &found) != nil || found != nil && found.Hash != s.Hash {
			return errors.New("it answered with another transaction")
		}
		known = found != nil
		return nil
	}, "eth_getTransactionByHash", s.Hash.String())
	switch {
	case err == nil && known:
		return nil
	case err == nil && says(refused, "nonce too low", "nonce is too low"):
		return fmt.Errorf("%w: %w", anchor.ErrSpent, refused)
	}
	return fmt.Errorf("send transaction %s: %w", s.Hash, refused)
}
