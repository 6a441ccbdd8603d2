package tx

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/robotmoney/mcp/shared/platform/chain"
)

// GasCap is the most gas one transaction may ask for since Osaka (EIP-7825).
const GasCap = 1 << 24

// fees proposes the tip and the most to pay for a unit of gas, in wei: twice the
// next block's base fee, so that six full blocks in a row do not price it out,
// and the tip on top. The cap keeps an endpoint that lies, or a mad hour, from
// spending the account.
func (t *Transactor) fees(ctx context.Context) (tip, maxFee *big.Int, err error) {
	base, usual, err := FeeHistory(ctx, t.client)
	if err != nil {
		return nil, nil, fmt.Errorf("read the fee history: %w", err)
	}
	tip, err = t.client.BigQuantity(ctx, "eth_maxPriorityFeePerGas")
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

// FeeHistory reads the next block's base fee and the median tip of the last block,
// in wei; a block without transactions has no tip.
func FeeHistory(ctx context.Context, client *chain.Client) (base, tip *big.Int, err error) {
	err = client.Read(ctx, func(result json.RawMessage) error {
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
			return fmt.Errorf("the fee history is not what was asked for: it has %d base fees, want 2", n)
		}
		var err error
		if base, err = chain.ParseBigQuantity(history.BaseFeePerGas[n-1]); err != nil {
			return err
		}
		tip = new(big.Int)
		if len(history.Reward) == 1 && len(history.Reward[0]) == 1 {
			tip, err = chain.ParseBigQuantity(history.Reward[0][0])
		}
		return err
	}, "eth_feeHistory", "0x1", "latest", []int{50})
	return base, tip, err
}
