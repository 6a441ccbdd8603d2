// Package ledger holds the entities agents read, and the one writer of them. A
// row is flat, every amount is a decimal string in the row's currency, and a
// field without a value is null.
package ledger

import (
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/money"
)

// Meta is what every row has.
type Meta struct {
	ID          string   `json:"id"`
	TenantID    string   `json:"tenant_id"`
	SourceIDs   []string `json:"source_ids"`   // raw artifacts it comes from
	EvidenceIDs []string `json:"evidence_ids"` // parsed evidence it rests on
	Provenance  string   `json:"provenance"`
	Confidence  float64  `json:"confidence"` // 0 to 1, no amount of money
	CreatedAt   string   `json:"created_at"` // RFC 3339, milliseconds
	UpdatedAt   string   `json:"updated_at"`
}

// Row is an entity that can be written. Only this package has any.
type Row interface {
	meta() *Meta
	kind() id.Prefix
	check() error
	key(t identity.Tenant) key.Key
	places(t identity.Tenant) [3]key.Key
	derive(t identity.Tenant) (derived, error)
	belongs() []string // ids and months, YYYY-MM, that tell of the row too
}

func (m *Meta) meta() *Meta { return m }

// provenances say where a row's facts come from; those of an agent or a
// customer alone are trusted no more than half.
var provenances = []string{"extracted", "inferred", "ambiguous", "human_confirmed", "agent_contributed", "customer_asserted"}

const maxUntrusted = 0.5

func (m *Meta) check(kind id.Prefix) error {
	m.SourceIDs, m.EvidenceIDs = list(m.SourceIDs), list(m.EvidenceIDs)
	if err := id.Check(kind, m.ID); err != nil {
		return err
	}
	if err := oneOf("provenance", m.Provenance, provenances); err != nil {
		return err
	}
	limit := 1.0
	if m.Provenance == "agent_contributed" || m.Provenance == "customer_asserted" {
		limit = maxUntrusted
	}
	if !(m.Confidence >= 0 && m.Confidence <= limit) {
		return fmt.Errorf("confidence %v: want 0 to %v for provenance %s", m.Confidence, limit, m.Provenance)
	}
	if m.CreatedAt != "" {
		if err := instants("created_at", &m.CreatedAt); err != nil {
			return err
		}
	}
	return first(texts("source_ids", m.SourceIDs), texts("evidence_ids", m.EvidenceIDs))
}

// maxText bounds every free text of a row, and maxLabel what becomes a part of
// a key: a longer category would make the transaction impossible to count.
const (
	maxText  = 2000
	maxLabel = 256
)

// label checks a text that becomes a part of a key, as it stands there: folding
// can make a text eleven times as long.
func label(field string, value *string) error {
	if value != nil && (len(*value) > maxLabel || len(Fold(*value)) > maxLabel) {
		return fmt.Errorf("%s %.40q: want at most %d bytes", field, *value, maxLabel)
	}
	return nil
}

// list makes an absent list an empty one: a row has no member that is missing,
// and a client that reads a list must not find null.
func list(items []string) []string {
	if items == nil {
		return []string{}
	}
	return items
}

func oneOf(field, value string, allowed []string) error {
	if !slices.Contains(allowed, value) {
		return fmt.Errorf("%s %.40q: want one of %v", field, value, allowed)
	}
	return nil
}

func text(field string, values ...*string) error {
	for _, v := range values {
		if v != nil && (len(*v) > maxText || !utf8.ValidString(*v)) {
			return fmt.Errorf("%s: want UTF-8 of at most %d bytes", field, maxText)
		}
	}
	return nil
}

// texts checks a list of free texts. How many there may be follows from the
// bound of the whole row.
func texts(field string, values []string) error {
	for i := range values {
		if err := text(field, &values[i]); err != nil {
			return err
		}
	}
	return nil
}

func date(field string, values ...*string) error {
	for _, v := range values {
		if v == nil {
			continue
		}
		if _, err := time.Parse(time.DateOnly, *v); err != nil {
			return fmt.Errorf("%s %.40q: want YYYY-MM-DD", field, *v)
		}
	}
	return nil
}

// instants checks RFC 3339 times in UTC with milliseconds. The parser alone is
// more lenient: it takes a comma for the point and an hour of one digit, and a
// balance would then lie under two keys for one instant.
func instants(field string, values ...*string) error {
	for _, v := range values {
		if v == nil {
			continue
		}
		if at, err := time.Parse(audit.TimeForm, *v); err != nil || at.Format(audit.TimeForm) != *v {
			return fmt.Errorf("%s %.40q: want RFC 3339 in UTC with milliseconds", field, *v)
		}
	}
	return nil
}

// amounts checks decimal strings of one currency; signed ones may be negative.
func amounts(currency string, parse func(string, money.Currency) (money.Amount, error), values ...*string) error {
	c, err := money.Parse(currency)
	if err != nil {
		return err
	}
	for _, v := range values {
		if v == nil {
			continue
		}
		canonical, err := parse(*v, c)
		if err != nil {
			return err
		}
		*v = canonical.String()
	}
	return nil
}

func refers(kind id.Prefix, values ...*string) error {
	for _, v := range values {
		if v != nil {
			if err := id.Check(kind, *v); err != nil {
				return err
			}
		}
	}
	return nil
}

func referAll(kind id.Prefix, values []string) error {
	for i := range values {
		if err := refers(kind, &values[i]); err != nil {
			return err
		}
	}
	return nil
}

// first returns the first thing that is wrong.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

var errNoName = errors.New("name: want some text")
