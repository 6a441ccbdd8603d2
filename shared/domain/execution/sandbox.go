package execution

import (
	"context"
	"time"

	"github.com/robotmoney/mcp/shared/domain/audit"
)

// Sandbox is a rail that settles every order at once and moves nothing. One order
// has one reference, however often it is sent.
type Sandbox struct{ Now func() time.Time }

// Name is sandbox.
func (Sandbox) Name() string { return "sandbox" }

// Send settles.
func (s Sandbox) Send(_ context.Context, order Order) (Receipt, error) {
	receipt := order.receipt(s.Name(), Done)
	receipt.Reference, receipt.At = "sandbox-"+order.IdempotencyKey[:24], s.Now().UTC().Format(audit.TimeForm)
	return receipt, nil
}
