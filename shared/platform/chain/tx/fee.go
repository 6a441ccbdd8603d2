package tx

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// fees proposes the tip and the most to pay for a unit of gas, in wei: twice the
// next block's base fee, so that six full blocks in a row do not price it out,
// and the tip on top. The cap keeps an endpoint that lies, or a mad hour, from
// spending the account.
func (t *Transactor) fees(ctx context.Context) (tip, maxFee *big.Int, err error) {
	base, usual, err := t.history(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("read the fee history: %w", err)
	}
	tip, err = t.bigQuantity(ctx, "eth_maxPriorityFeePerGas")
	if err != nil {
		tip = usual // not every node has the method
	}
	least := new(big.Int).Add(base, tip)
	if least.Cmp(t.feeCap) > 0 {
		return nil, nil, fmt.Errorf("gas costs %s wei a unit, above the cap of %s", least, t.feeCap)
	}
	maxFee = least.Add(least, base)
	if maxFee.Cmp(t.feeCap) > 0 {
		maxFee = new(big.Int).Set(t.feeCap)
	}
	return tip, maxFee, nil
}

// history reads the next block's base fee and the median tip of the last block.
func (t *Transactor) history(ctx context.Context) (base, tip *big.Int, err error) {
	err = t.client.Read(ctx, func(result json.RawMessage) error {
		var history struct {
			BaseFeePerGas []string   `json:"baseFeePerGas"`
			Reward        [][]string `json:"reward"`
		}
		if err := json.Unmarshal(result, &history); err != nil {
			return errors.New("the fee history is not what was asked for")
		}
		// One block was asked for: its base fee, then the next block's. A node
		// that is just taking a block in may have one of the two only; paying up
		// to twice of either is enough.
		n := len(history.BaseFeePerGas)
		if n != 1 && n != 2 {
			return fmt.Errorf("the fee history has %d base fees, want 2", n)
		}
		var err error
		if base, err = parseBig(history.BaseFeePerGas[n-1]); err != nil {
			return err
		}
		tip = new(big.Int)
		if len(history.Reward) == 1 && len(history.Reward[0]) == 1 {
			tip, err = parseBig(history.Reward[0][0])
		}
		return err
	}, "eth_feeHistory", "0x1", "latest", []int{50})
	return base, tip, err
}

func (t *Transactor) bigQuantity(ctx context.Context, method string) (*big.Int, error) {
	var n *big.Int
	err := t.client.Read(ctx, func(result json.RawMessage) error {
		var text string
		if err := json.Unmarshal(result, &text); err != nil {
			return errors.New("the quantity is not a string")
		}
		var err error
		n, err = parseBig(text)
		return err
	}, method)
	return n, err
}

// parseBig reads a quantity of up to 256 bits.
func parseBig(text string) (*big.Int, error) {
	digits, ok := strings.CutPrefix(text, "0x")
	if !ok || digits == "" || len(digits) > 64 || strings.Trim(digits, "0123456789abcdefABCDEF") != "" {
		return nil, fmt.Errorf("quantity %.80q: want 0x and 1 to 64 hexadecimal digits", text)
	}
	n, ok := new(big.Int).SetString(digits, 16)
	if !ok {
		return nil, fmt.Errorf("quantity %.80q: not hexadecimal", text)
	}
	return n, nil
}
