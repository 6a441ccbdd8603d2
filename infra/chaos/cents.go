package main

import (
	"fmt"
	"strconv"
	"strings"
)

// cents are hundredths of the currency: all that is paid here has two decimals.
// The reckoning adds up by itself and not with what it checks.
type cents int64

// String is the amount as a payment writes it.
func (c cents) String() string {
	sign := ""
	if c < 0 {
		sign, c = "-", -c
	}
	return fmt.Sprintf("%s%d.%02d", sign, c/100, c%100)
}

// parseCents reads an amount with at most two decimals.
func parseCents(text string) (cents, error) {
	whole, part, _ := strings.Cut(text, ".")
	if whole == "" || len(part) > 2 {
		return 0, fmt.Errorf("amount %q is none with at most two decimals", text)
	}
	n, err := strconv.ParseInt(whole+(part + "00")[:2], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("amount %q: %w", text, err)
	}
	return cents(n), nil
}
