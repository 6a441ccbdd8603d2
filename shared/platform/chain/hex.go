package chain

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// ParseQuantity reads a JSON-RPC quantity that fits in 64 bits: 0x, then 1 to 16
// hexadecimal digits without leading zeros.
func ParseQuantity(text string) (uint64, error) {
	digits, ok := strings.CutPrefix(text, "0x")
	if !ok || digits == "" || len(digits) > 16 || (digits[0] == '0' && len(digits) > 1) {
		return 0, fmt.Errorf("quantity %.80q: want 0x and 1 to 16 hexadecimal digits without leading zeros", text)
	}
	n, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		return 0, fmt.Errorf("quantity %.80q: not hexadecimal", text)
	}
	return n, nil
}

// ParseBigQuantity reads a JSON-RPC quantity of up to 256 bits.
func ParseBigQuantity(text string) (*big.Int, error) {
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

// FormatQuantity writes n as a JSON-RPC quantity.
func FormatQuantity(n uint64) string { return "0x" + strconv.FormatUint(n, 16) }

// ParseData reads JSON-RPC data: a JSON string of 0x and an even number of
// hexadecimal digits, none for no bytes.
func ParseData(raw json.RawMessage) ([]byte, error) {
	var text *string
	if err := json.Unmarshal(raw, &text); err != nil || text == nil {
		return nil, errors.New("data: not a string")
	}
	digits, ok := strings.CutPrefix(*text, "0x")
	if !ok {
		return nil, fmt.Errorf("data %.80q: does not start with 0x", *text)
	}
	data, err := hex.DecodeString(digits)
	if err != nil {
		return nil, fmt.Errorf("data %.80q: want pairs of hexadecimal digits", *text)
	}
	return data, nil
}

// FormatData writes bytes as JSON-RPC data.
func FormatData(data []byte) string { return "0x" + hex.EncodeToString(data) }
