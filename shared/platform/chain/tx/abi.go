package tx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/chain"
)

// Args encodes the arguments of a contract call in their order, one 32-byte word
// each; bytes and arrays put an offset there and their content behind all words.
// The zero value encodes the arguments of a constructor.
type Args struct {
	selector []byte
	heads    [][32]byte
	tails    map[int][]byte // content of the dynamic arguments by their position
}

// Function starts a call of the function with this signature, for example
// revokeAgent(bytes32,bytes).
func Function(signature string) *Args {
	selector := chain.Selector(signature)
	return &Args{selector: selector[:]}
}

// Bytes32 adds a bytes32.
func (a *Args) Bytes32(b identity.Hash) *Args {
	a.heads = append(a.heads, b)
	return a
}

// Address adds an address.
func (a *Args) Address(b chain.Address) *Args {
	var word [32]byte
	copy(word[12:], b[:])
	return a.Bytes32(word)
}

// Uint adds an unsigned integer of any width that holds it.
func (a *Args) Uint(n uint64) *Args { return a.Bytes32(uintWord(n)) }

// Bool adds a bool.
func (a *Args) Bool(b bool) *Args {
	if b {
		return a.Uint(1)
	}
	return a.Uint(0)
}

// Bytes adds a bytes.
func (a *Args) Bytes(b []byte) *Args {
	length := uintWord(uint64(len(b)))
	return a.dynamic(slices.Concat(length[:], b, make([]byte, (32-len(b)%32)%32)))
}

// Array adds an array of count items whose fields, all static, were added to
// items one item after the other.
func (a *Args) Array(count int, items *Args) *Args {
	length := uintWord(uint64(count))
	return a.dynamic(append(length[:], items.Encode()...))
}

func (a *Args) dynamic(content []byte) *Args {
	if a.tails == nil {
		a.tails = map[int][]byte{}
	}
	a.tails[len(a.heads)] = content
	return a.Bytes32(identity.Hash{}) // Encode puts the offset here
}

// Encode returns the call's data.
func (a *Args) Encode() []byte {
	heads, content := slices.Clone(a.heads), []byte(nil)
	for i := range heads {
		if tail, ok := a.tails[i]; ok {
			heads[i] = uintWord(uint64(len(heads)*32 + len(content)))
			content = append(content, tail...)
		}
	}
	data := slices.Clone(a.selector)
	for _, head := range heads {
		data = append(data, head[:]...)
	}
	return append(data, content...)
}

func uintWord(n uint64) (word [32]byte) {
	binary.BigEndian.PutUint64(word[24:], n)
	return word
}

// decodeUint reads one returned number that fits in 64 bits.
func decodeUint(returned []byte) (uint64, error) {
	if len(returned) != 32 {
		return 0, fmt.Errorf("returned %d bytes, want 32: is the contract at this address?", len(returned))
	}
	n := binary.BigEndian.Uint64(returned[24:])
	if uintWord(n) != [32]byte(returned) {
		return 0, errors.New("returned a number wider than 64 bits")
	}
	return n, nil
}
