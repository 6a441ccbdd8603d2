// Package rows makes a ledger of any size fast: the items the ledger's writer
// would store for a row, without its transactions, events and rollups. A test
// holds them against what the writer stores.
package rows

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
)

// Item is what lies under a key, with the attributes the table gives it.
type Item = map[string]types.AttributeValue

// Maker makes what is stored for the ith row of a tenant, the row itself first.
type Maker func(t identity.Tenant, i int) ([]Item, error)

// Transaction makes the ith transaction of a tenant: the days of ten years in
// turn, ten accounts, a thousand counterparties.
func Transaction(t identity.Tenant, i int) ([]Item, error) {
	name := fmt.Sprintf("tx_%08d", i)
	at := time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i%3650)
	day := at.Format(time.DateOnly)
	account, party := fmt.Sprintf("acct_%d", i%10), fmt.Sprintf("cp_%d", i%1000)
	row := &ledger.Transaction{
		Meta: meta(t, name, at), AccountID: account, Amount: "12.34", Currency: "USD", Direction: "outflow",
		TransactionDate: day, CounterpartyID: &party, Allocations: []ledger.Allocation{}, Status: "posted", ReconciliationStatus: "matched",
	}
	one, err := item(key.Ledger(t, id.Transaction, name), row,
		key.LedgerList(t, id.Transaction, day, name), key.LedgerListOf(t, id.Transaction, account, day, name), key.LedgerListOf(t, id.Transaction, party, day, name))
	return []Item{one}, err
}

// Marks is how many parts of a name a search may begin with, for each name that
// Counterparty makes.
const Marks = 8

// mark is what lies under a part of a name: the row, and how many bytes the part
// shares with the one before it.
type mark struct {
	Shared int `json:"shared"`
	Row    any `json:"row"`
}

// Counterparty makes the ith counterparty of a tenant and the marks of its name.
// A name is seven digits and a letter: short, because each further letter is a
// mark more, and with a last letter that is nowhere else in it, so that no part
// begins with another one and each is a mark.
func Counterparty(t identity.Tenant, i int) ([]Item, error) {
	const stride, names = 99_991, 10_000_000 // without a common divisor: no name comes twice
	name := fmt.Sprintf("%07dk", i*stride%names)
	row := &ledger.Counterparty{
		Meta: meta(t, fmt.Sprintf("cp_%d", i), time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC)), Name: name, NormalizedName: name,
		Type: "vendor", Aliases: []string{}, RiskLevel: "low", VerifiedStatus: "unverified", LinkedAccounts: []string{},
	}
	one, err := item(key.Ledger(t, id.Counterparty, row.ID), row, key.LedgerList(t, id.Counterparty, name, row.ID))
	if err != nil {
		return nil, err
	}
	items, before := []Item{one}, ""
	for _, part := range parts(name) {
		one, err := item(key.Suffix(t, part, row.ID), mark{shared(before, part), row})
		if err != nil {
			return nil, err
		}
		items, before = append(items, one), part
	}
	return items, nil
}

// parts are a name from each letter on, sorted.
func parts(name string) []string {
	var all []string
	for at := range name {
		all = append(all, name[at:])
	}
	slices.Sort(all)
	return all
}

// shared is how many bytes a and b begin with alike.
func shared(a, b string) int {
	for n := range min(len(a), len(b)) {
		if a[n] != b[n] {
			return n
		}
	}
	return min(len(a), len(b))
}

func meta(t identity.Tenant, name string, at time.Time) ledger.Meta {
	written := at.Format(audit.TimeForm)
	return ledger.Meta{
		ID: name, TenantID: t.String(), SourceIDs: []string{}, EvidenceIDs: []string{},
		Provenance: "extracted", Confidence: 1, CreatedAt: written, UpdatedAt: written,
	}
}

func item(k key.Key, content any, places ...key.Key) (Item, error) {
	body, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", k.PK, err)
	}
	out := Item{"pk": text(k.PK), "sk": text(k.SK), "version": &types.AttributeValueMemberN{Value: "1"}, "body": text(string(body))}
	for i, place := range places {
		out[fmt.Sprintf("gsi%dpk", i+1)], out[fmt.Sprintf("gsi%dsk", i+1)] = text(place.PK), text(place.SK)
	}
	return out, nil
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
