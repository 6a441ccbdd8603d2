package execution

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// Answering is a rail that takes an order and answers later, with a receipt that
// nobody asks for. When it never comes, only its time tells.
type Answering interface {
	// Within is how long the receipt may take.
	Within() time.Duration
}

// awaited is the mark of the receipt that is waited for, none where there is none.
func (r Record) awaited(t identity.Tenant) ([]key.Key, error) {
	if r.ReceiptDue == "" {
		return nil, nil
	}
	at, err := time.Parse(audit.TimeForm, r.ReceiptDue)
	if err != nil {
		return nil, fmt.Errorf("when the receipt of %s is due: %w", r.ID, err)
	}
	return []key.Key{key.Receipt(t, at, r.ID)}, nil
}

// Overdue is an execution whose receipt should be here. It is not known to have
// failed: the order was taken and may have been paid.
type Overdue struct {
	Tenant, Execution string
	Due               time.Time
}

// Receipts watches over the receipts that are waited for. It changes nothing.
type Receipts struct {
	Store record.Store
	Now   func() time.Time
}

// MaxOverdue is how many executions one look names.
const MaxOverdue = 20

// Overdue are the executions whose receipt is overdue, the oldest first, at most
// MaxOverdue of them.
func (w *Receipts) Overdue(ctx context.Context) ([]Overdue, error) {
	page, err := w.Store.Query(ctx, record.Query{PK: key.ReceiptsPartition, To: w.Now().UTC().Format(audit.TimeForm), Limit: MaxOverdue})
	if err != nil {
		return nil, fmt.Errorf("look for overdue receipts: %w", err)
	}
	var late []Overdue
	for _, item := range page.Items {
		parts := strings.Split(item.Key.SK, "#")
		if len(parts) != 3 {
			return nil, fmt.Errorf("the mark %q of a receipt cannot be read", item.Key.SK)
		}
		due, err := time.Parse(audit.TimeForm, parts[0])
		if err != nil {
			return nil, fmt.Errorf("the mark %q of a receipt: %w", item.Key.SK, err)
		}
		late = append(late, Overdue{parts[1], parts[2], due})
	}
	return late, nil
}
