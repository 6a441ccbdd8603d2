package tx

import (
	"errors"
	"math/big"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/chain"
)

// dynamicFee is the type byte of an EIP-1559 transaction.
const dynamicFee = 0x02

// Transaction is an EIP-1559 transaction without value and access list: it
// calls or creates a contract and moves no coins.
type Transaction struct {
	ChainID uint64
	Nonce   uint64
	Tip     *big.Int       // for the block's producer, wei a unit of gas
	MaxFee  *big.Int       // base fee and tip together at most, wei a unit of gas
	Gas     uint64         // limit
	To      *chain.Address // nil creates a contract
	Data    []byte
}

// fields are the encoded fields in their order, without the signature.
func (t Transaction) fields() [][]byte {
	var to []byte
	if t.To != nil {
		to = t.To[:]
	}
	return [][]byte{
		rlpUint(t.ChainID), rlpUint(t.Nonce), rlpBig(t.Tip), rlpBig(t.MaxFee), rlpUint(t.Gas),
		rlpBytes(to), rlpUint(0), rlpBytes(t.Data), rlpList(),
	}
}

// Digest is what the sender signs.
func (t Transaction) Digest() identity.Hash {
	return identity.Keccak(append([]byte{dynamicFee}, rlpList(t.fields()...)...))
}

// Signed is the raw transaction with a signature of its Digest, as
// eth_sendRawTransaction takes it. Its Keccak hash is the transaction's hash.
func (t Transaction) Signed(s Signature) []byte {
	r, low := new(big.Int).SetBytes(s.R[:]), new(big.Int).SetBytes(s.S[:])
	fields := append(t.fields(), rlpUint(uint64(s.V)), rlpBig(r), rlpBig(low))
	return append([]byte{dynamicFee}, rlpList(fields...)...)
}

// check refuses what cannot be encoded.
func (t Transaction) check() error {
	for _, fee := range []*big.Int{t.Tip, t.MaxFee} {
		if fee == nil || fee.Sign() < 0 || fee.BitLen() > 256 {
			return errors.New("transaction: a fee is missing, negative or wider than 256 bits")
		}
	}
	return nil
}
