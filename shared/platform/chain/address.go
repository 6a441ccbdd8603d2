package chain

import "github.com/robotmoney/mcp/shared/domain/identity"

// Address is an account on the chain.
type Address = identity.Address

// ParseAddress reads 0x and 40 hexadecimal digits, with their checksum.
func ParseAddress(text string) (Address, error) { return identity.ParseAddress(text) }

// AddressOf is the address of an uncompressed public key, X then Y, without the
// 0x04 that some encodings put in front.
func AddressOf(key [64]byte) Address {
	hash := identity.Keccak(key[:])
	return Address(hash[12:])
}
