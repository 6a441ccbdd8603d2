package tx

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"time"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/chain"
)

// Config says who sends transactions and through which client.
type Config struct {
	Client  *chain.Client
	Signer  Signer
	Poll    time.Duration // between two looks for a receipt
	FeeCap  *big.Int      // refuse to pay more for a unit of gas, wei; nil means 500 gwei
	Reverts []string      // signatures of the custom errors a revert is named by, for example LastSigner(bytes32)
}

// Transactor sends the transactions of one account. Sends of one Transactor wait
// for each other, so that no two take the same nonce; two processes with one key
// are not kept apart.
type Transactor struct {
	client  *chain.Client
	signer  Signer
	poll    time.Duration
	feeCap  *big.Int
	reverts map[[4]byte]string
	sending sync.Mutex
}

// NewTransactor checks the configuration and asks nothing.
func NewTransactor(config Config) (*Transactor, error) {
	if config.Client == nil || config.Signer == nil {
		return nil, errors.New("transactor: a client and a signer are needed")
	}
	if config.Poll <= 0 {
		return nil, errors.New("transactor: the time between two looks for a receipt must be above zero")
	}
	feeCap := config.FeeCap
	if feeCap == nil {
		feeCap = big.NewInt(500e9)
	}
	reverts := map[[4]byte]string{}
	for _, signature := range config.Reverts {
		reverts[chain.Selector(signature)] = signature
	}
	return &Transactor{client: config.Client, signer: config.Signer, poll: config.Poll, feeCap: feeCap, reverts: reverts}, nil
}

// From is the account that sends and pays.
func (t *Transactor) From() chain.Address { return t.signer.Address() }

// Client is what the transactor reads through.
func (t *Transactor) Client() *chain.Client { return t.client }

// Send signs and sends a call of to with data, or the creation of a contract
// when to is nil, and returns without waiting for a block. A call that would
// revert is a *RevertError and is not sent.
//
// An error with a hash means that the transaction was signed and offered, and
// may still be taken: Wait for it before trying again. An error without one means
// that nothing was sent.
func (t *Transactor) Send(ctx context.Context, to *chain.Address, data []byte) (identity.Hash, error) {
	t.sending.Lock()
	defer t.sending.Unlock()
	transaction, err := t.prepare(ctx, to, data)
	if err != nil {
		return identity.Hash{}, err
	}
	signature, err := Sign(ctx, t.signer, transaction.Digest())
	if err != nil {
		return identity.Hash{}, err
	}
	raw := transaction.Signed(signature)
	hash := identity.Keccak(raw)
	return hash, Offer(ctx, t.client, hash, chain.FormatData(raw))
}

// prepare fills in what the chain says: gas, fees, nonce.
func (t *Transactor) prepare(ctx context.Context, to *chain.Address, data []byte) (Transaction, error) {
	none := Transaction{}
	gas, err := t.estimate(ctx, to, data)
	if err != nil {
		return none, err
	}
	tip, maxFee, err := t.fees(ctx)
	if err != nil {
		return none, err
	}
	nonce, err := t.client.Quantity(ctx, "eth_getTransactionCount", t.From().String(), "pending")
	if err != nil {
		return none, fmt.Errorf("read the nonce of %s: %w", t.From(), err)
	}
	transaction := Transaction{
		ChainID: t.client.ChainID(), Nonce: nonce, Tip: tip, MaxFee: maxFee, Gas: gas, To: to, Data: data,
	}
	return transaction, transaction.check()
}

// estimate returns the estimated gas and a quarter more: the state the
// transaction meets is that of a later block, and a bare estimate runs out of
// gas there.
func (t *Transactor) estimate(ctx context.Context, to *chain.Address, data []byte) (uint64, error) {
	call := map[string]string{"from": t.From().String(), "data": chain.FormatData(data)}
	if to != nil {
		call["to"] = to.String()
	}
	estimate, err := t.client.Quantity(ctx, "eth_estimateGas", call)
	if err != nil {
		return 0, fmt.Errorf("estimate gas: %w", t.named(err))
	}
	if estimate > GasCap {
		return 0, fmt.Errorf("estimate gas: %d is above the %d a transaction may use", estimate, GasCap)
	}
	return min(estimate+estimate/4, GasCap), nil
}

// Deploy creates a contract from its creation code, constructor arguments
// appended, waits for it and returns its address and the receipt.
func (t *Transactor) Deploy(ctx context.Context, code []byte) (chain.Address, Receipt, error) {
	receipt, err := t.Do(ctx, nil, code)
	if err != nil {
		return chain.Address{}, receipt, fmt.Errorf("deploy: %w", err)
	}
	if receipt.Contract.IsZero() {
		return chain.Address{}, receipt, fmt.Errorf("deploy: the receipt of %s names no contract", receipt.Hash)
	}
	return receipt.Contract, receipt, nil
}

// Do sends and waits.
func (t *Transactor) Do(ctx context.Context, to *chain.Address, data []byte) (Receipt, error) {
	hash, err := t.Send(ctx, to, data)
	if err != nil {
		return Receipt{Hash: hash}, err
	}
	return t.Wait(ctx, hash)
}
