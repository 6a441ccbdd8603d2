package evaluation

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/robotmoney/mcp/infra/local/demo"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/question"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// Company writes the demo's data into an empty table and returns the way to ask
// about it, as a caller with all scopes that answers may need.
func Company(ctx context.Context, store record.Store) (Ask, error) {
	trail := &audit.Trail{Bus: silent{}, Store: store, IDs: id.NewSource(time.Now, rand.Reader), Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	addresses := map[string]string{}
	for _, a := range demo.Agents {
		addresses[a.Record.ID] = "0x0000000000000000000000000000000000000001" // no chain is asked
	}
	if _, err := demo.Seed(ctx, demo.Deps{Store: store, Trail: trail, Addresses: addresses}); err != nil {
		return nil, fmt.Errorf("write the demo's data: %w", err)
	}
	acme, err := identity.OperatorTenant(demo.Acme)
	if err != nil {
		return nil, err
	}
	if err := store.Commit(ctx, record.Change{Puts: []record.Put{{Item: waiting(acme)}}}); err != nil {
		return nil, fmt.Errorf("write what waits for approval: %w", err)
	}
	engine := question.NewEngine(store, time.Now)
	engine.Policies = unsigned{}
	return func(ctx context.Context, text string, asOf time.Time) (bool, string, error) {
		a, err := engine.Ask(ctx, acme, question.Ask{Text: text, AsOf: asOf, Depth: 3, Scopes: identity.Scopes{identity.WikiRead, identity.ExecutionRead}})
		return a.Answered, a.Answer, err
	}, nil
}

// waiting is a payment that an agent proposed and nobody has decided.
func waiting(t identity.Tenant) record.Item {
	const proposed = "2025-09-29T09:00:00.000Z"
	c := proposals.Case{
		Core: proposals.Core{ID: "pi_waiting", TenantID: t.String(), AgentID: "agt_finance", Status: proposals.Pending, CreatedAt: proposed, UpdatedAt: proposed},
		Payment: &payments.Payment{
			ActionType: payments.ACHOutbound, SourceAccountID: "acct_8231", DestinationCounterpartyID: "cp_datadog", Amount: "12400.00", Currency: "USD",
		},
		Standing: proposals.Standing{Ruling: proposals.Ruling{Outcome: policy.Confirm, PolicyVersion: 1, Matched: []string{"large-trusted"}, Approvers: []string{policy.RoleApprover}}},
	}
	body, err := json.Marshal(c)
	if err != nil {
		panic(err) // a struct of texts
	}
	item := record.Item{Key: key.Ledger(t, id.PaymentIntent, c.ID), Body: body}
	item.Index = [3]key.Key{key.LedgerList(t, id.PaymentIntent, proposed, c.ID), key.LedgerListOf(t, id.PaymentIntent, c.AgentID, proposed, c.ID), key.Feed(t, proposed, c.ID)}
	return item
}

// silent is a bus that takes everything.
type silent struct{}

func (silent) Publish(context.Context, []audit.Entry) ([]string, error) { return nil, nil }

// unsigned are the demo's policies as if their signers had signed them: whether
// they did is the charter's business and not that of an answer.
type unsigned struct{}

func (unsigned) Load(_ context.Context, t identity.Tenant, _ map[key.Key]record.Item) (charter.Active, error) {
	raw, err := demo.Policy(t.String())
	if err != nil {
		return charter.Active{}, err
	}
	document, err := policy.Parse(raw)
	return charter.Active{Version: 1, Document: document}, err
}
