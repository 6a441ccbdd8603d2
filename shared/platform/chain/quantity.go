package chain

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
)

// Quantity reads a number that fits in 64 bits.
func (c *Client) Quantity(ctx context.Context, method string, params ...any) (uint64, error) {
	return quantity(ctx, c, ParseQuantity, method, params)
}

// BigQuantity reads a number of up to 256 bits.
func (c *Client) BigQuantity(ctx context.Context, method string, params ...any) (*big.Int, error) {
	return quantity(ctx, c, ParseBigQuantity, method, params)
}

func quantity[T any](ctx context.Context, c *Client, parse func(string) (T, error), method string, params []any) (n T, err error) {
	err = c.Read(ctx, func(result json.RawMessage) (err error) {
		var text string
		if json.Unmarshal(result, &text) != nil {
			return errors.New("the quantity is not a string")
		}
		n, err = parse(text)
		return err
	}, method, params...)
	return n, err
}
