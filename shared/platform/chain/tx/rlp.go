// Package tx writes to an Ethereum chain: it encodes, signs and sends EIP-1559
// transactions and the EIP-712 messages of the agent registry. It links
// secp256k1, which readers of the chain do without.
package tx

import (
	"encoding/binary"
	"math/big"
	"slices"
)

// The writer of RLP: a value is encoded by appending it, a list from the
// concatenation of its encoded items. Decoding is not needed.

// rlpBytes encodes a string of bytes. A single byte below 0x80 is its own
// encoding.
func rlpBytes(b []byte) []byte {
	if len(b) == 1 && b[0] < 0x80 {
		return []byte{b[0]}
	}
	return append(rlpHead(0x80, len(b)), b...)
}

// rlpUint encodes a number: its bytes without leading zeros, 0 as no bytes.
func rlpUint(n uint64) []byte { return rlpBytes(trimmed(n)) }

// rlpBig encodes a number that is not negative.
func rlpBig(n *big.Int) []byte { return rlpBytes(n.Bytes()) }

// rlpList encodes a list of items that are encoded already.
func rlpList(items ...[]byte) []byte {
	content := slices.Concat(items...)
	return append(rlpHead(0xc0, len(content)), content...)
}

// rlpHead is the prefix of size bytes of content: one byte up to 55, else the
// length of the length, then the length.
func rlpHead(kind byte, size int) []byte {
	if size <= 55 {
		return []byte{kind + byte(size)}
	}
	length := trimmed(uint64(size))
	return append([]byte{kind + 55 + byte(len(length))}, length...)
}

func trimmed(n uint64) []byte {
	b := binary.BigEndian.AppendUint64(nil, n)
	for len(b) > 0 && b[0] == 0 {
		b = b[1:]
	}
	return b
}
