package identity

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// Address is an account on the chain.
type Address [20]byte

// ParseAddress reads 0x and 40 hexadecimal digits. Digits in both cases carry an
// EIP-55 checksum, and one that is wrong is refused: it is how a mistyped address
// is noticed before money goes there.
func ParseAddress(text string) (Address, error) {
	digits, ok := strings.CutPrefix(text, "0x")
	if !ok || len(digits) != 40 {
		return Address{}, fmt.Errorf("address %.80q: want 0x and 40 hexadecimal digits", text)
	}
	var a Address
	if _, err := hex.Decode(a[:], []byte(digits)); err != nil {
		return Address{}, fmt.Errorf("address %.80q: %w", text, err)
	}
	mixed := strings.ToLower(digits) != digits && strings.ToUpper(digits) != digits
	if mixed && a.String() != text {
		return Address{}, fmt.Errorf("address %.80q: the EIP-55 checksum is wrong", text)
	}
	return a, nil
}

// IsZero says whether a is the zero address.
func (a Address) IsZero() bool { return a == Address{} }

// String writes the address with its EIP-55 checksum: a letter is upper case
// where the hash of the lower-case digits has a nibble of 8 or more.
func (a Address) String() string {
	digits := []byte(hex.EncodeToString(a[:]))
	hash := Keccak(digits)
	for i, digit := range digits {
		nibble := hash[i/2] >> (4 * (1 - i%2)) & 0xf
		if digit >= 'a' && nibble >= 8 {
			digits[i] = digit - 'a' + 'A'
		}
	}
	return "0x" + string(digits)
}
