package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/execution"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

// maxFeeWei is the most that is paid for a unit of gas. An endpoint that lies,
// or a mad hour, must not spend the account.
const maxFeeWei = 500e9

// token is an ERC-20 token on the chain, paid from one account.
type token struct {
	client  *chain.Client
	signer  func(context.Context) (tx.Signer, error)
	address chain.Address
	block   time.Duration // about how long a block takes
}

var _ execution.Chain = (*token)(nil)

// ID is the chain's.
func (k *token) ID() uint64 { return k.client.ChainID() }

// Account is who pays.
func (k *token) Account(ctx context.Context) (identity.Address, error) {
	signer, err := k.signer(ctx)
	if err != nil {
		return identity.Address{}, fmt.Errorf("open the key that pays: %w", err)
	}
	return signer.Address(), nil
}

// Token is the token's contract.
func (k *token) Token() identity.Address { return k.address }

// Pending is the account's next nonce.
func (k *token) Pending(ctx context.Context) (uint64, error) {
	from, err := k.Account(ctx)
	if err != nil {
		return 0, err
	}
	n, err := k.client.Quantity(ctx, "eth_getTransactionCount", from.String(), "pending")
	if err != nil {
		return 0, fmt.Errorf("read the nonce of %s: %w", from, err)
	}
	return n, nil
}

// Sign makes a transfer with the fees of now.
func (k *token) Sign(ctx context.Context, nonce uint64, to identity.Address, amount *big.Int) (identity.Hash, []byte, error) {
	var none, word identity.Hash
	signer, err := k.signer(ctx)
	if err != nil {
		return none, nil, fmt.Errorf("open the key that pays: %w", err)
	}
	if amount.Sign() < 0 || amount.BitLen() > 256 {
		return none, nil, &execution.Refusal{Reason: "the amount fits no transfer"}
	}
	amount.FillBytes(word[:])
	data := tx.Function("transfer(address,uint256)").Address(to).Bytes32(word).Encode()
	gas, err := k.gas(ctx, signer.Address(), data)
	if err != nil {
		return none, nil, err
	}
	tip, most, err := k.fees(ctx)
	if err != nil {
		return none, nil, err
	}
	transfer := tx.Transaction{ChainID: k.ID(), Nonce: nonce, Tip: tip, MaxFee: most, Gas: gas, To: &k.address, Data: data}
	signature, err := tx.Sign(ctx, signer, transfer.Digest())
	if err != nil {
		return none, nil, err
	}
	raw := transfer.Signed(signature)
	return identity.Keccak(raw), raw, nil
}

// gas is the estimated gas and a quarter more: the block that takes the transfer
// is a later one. A call that would revert now is refused.
func (k *token) gas(ctx context.Context, from identity.Address, data []byte) (uint64, error) {
	call := map[string]string{"from": from.String(), "to": k.address.String(), "data": chain.FormatData(data)}
	estimate, err := k.client.Quantity(ctx, "eth_estimateGas", call)
	var rpc *chain.RPCError
	if errors.As(err, &rpc) && (rpc.Code == 3 || strings.Contains(strings.ToLower(rpc.Message), "revert")) {
		return 0, &execution.Refusal{Reason: "the token's contract would revert the transfer"}
	}
	if err != nil {
		return 0, fmt.Errorf("estimate gas: %w", err)
	}
	if estimate > tx.GasCap {
		return 0, fmt.Errorf("estimate gas: %d is above the %d a transaction may use", estimate, tx.GasCap)
	}
	return min(estimate+estimate/4, tx.GasCap), nil
}

// fees are the usual tip of the last block, and twice the next one's base fee with
// the tip on top: six full blocks in a row do not price the transfer out.
func (k *token) fees(ctx context.Context) (tip, most *big.Int, err error) {
	var base *big.Int
	err = k.client.Read(ctx, func(result json.RawMessage) error {
		var history struct {
			BaseFeePerGas []string   `json:"baseFeePerGas"`
			Reward        [][]string `json:"reward"`
		}
		if err := json.Unmarshal(result, &history); err != nil || len(history.BaseFeePerGas) == 0 {
			return errors.New("the fee history is not what was asked for")
		}
		var err error
		if base, err = wei(history.BaseFeePerGas[len(history.BaseFeePerGas)-1]); err != nil {
			return err
		}
		tip = new(big.Int)
		if len(history.Reward) == 1 && len(history.Reward[0]) == 1 {
			tip, err = wei(history.Reward[0][0])
		}
		return err
	}, "eth_feeHistory", "0x1", "latest", []int{50})
	if err != nil {
		return nil, nil, fmt.Errorf("read the fee history: %w", err)
	}
	limit := big.NewInt(maxFeeWei)
	most = new(big.Int).Add(base, tip)
	if most.Cmp(limit) > 0 {
		return nil, nil, fmt.Errorf("gas costs %s wei a unit, above the cap of %s", most, limit)
	}
	if most.Add(most, base).Cmp(limit) > 0 {
		most.Set(limit)
	}
	return tip, most, nil
}

// wei reads a quantity that fits in 64 bits: no unit of gas costs more.
func wei(text string) (*big.Int, error) {
	n, err := chain.ParseQuantity(text)
	return new(big.Int).SetUint64(n), err
}

// Offer sends the transfer.
func (k *token) Offer(ctx context.Context, hash identity.Hash, raw []byte) error {
	return tx.Offer(ctx, k.client, hash, chain.FormatData(raw))
}

// Await waits for about a block.
func (k *token) Await(ctx context.Context) error {
	timer := time.NewTimer(k.block)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
