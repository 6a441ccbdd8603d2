package ingest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/statement"
)

// The types of our own lines that are no bank's.
const (
	ofCounterparty = "counterparty"
	ofInvoice      = "invoice"
	ofObligation   = "obligation"
)

// line is what such a line may say; which of it a type has is in fields. Amounts
// are texts or numbers whose digits are kept.
type line struct {
	Type         string      `json:"type"`
	ID           string      `json:"id"`           // of the row, for who keeps ids of their own
	Name         string      `json:"name"`         // of a counterparty
	Kind         string      `json:"kind"`         // counterparty: vendor, customer …; obligation: bill, rent …
	Aliases      []string    `json:"aliases"`      // of a counterparty
	Number       string      `json:"number"`       // of an invoice
	Counterparty string      `json:"counterparty"` // name of the other side
	Direction    string      `json:"direction"`    // payable or receivable
	AmountDue    json.Number `json:"amount_due"`
	AmountPaid   json.Number `json:"amount_paid"`
	MinimumDue   json.Number `json:"minimum_due"`
	Currency     string      `json:"currency"`
	IssueDate    string      `json:"issue_date"`
	DueDate      string      `json:"due_date"`
	Recurrence   string      `json:"recurrence"` // RRULE
	Status       string      `json:"status"`
}

var fields = map[string][]string{
	ofCounterparty: {"type", "id", "name", "kind", "aliases"},
	ofInvoice:      {"type", "id", "number", "counterparty", "direction", "amount_due", "amount_paid", "currency", "issue_date", "due_date", "status"},
	ofObligation:   {"type", "id", "kind", "counterparty", "direction", "amount_due", "minimum_due", "currency", "due_date", "recurrence", "status"},
}

// record checks a line of our own as the row it will be.
func (s *surveyor) record(r *statement.Record) error {
	p, err := recordRow(s.tenant, r, s.meta())
	if err != nil {
		return err
	}
	p.refer(placeholderParty)
	if err := ledger.Check(p.row); err != nil {
		return r.Refuse("the line is no row: "+err.Error(), "", "the fields of its type", statement.Correct)
	}
	s.file.records = true
	s.file.parties = s.file.parties || r.Type == ofCounterparty
	return nil
}

const placeholderParty = "cp_00000000000000000000000000000000"

// recordRow is the row of a line of our own. meta is of the file; the id is the
// line's own, or made of what it says.
func recordRow(t identity.Tenant, r *statement.Record, meta ledger.Meta) (planned, error) {
	var l line
	if err := decode(r, &l); err != nil {
		return planned{}, err
	}
	refuse := func(field, what, want string) (planned, error) {
		return planned{}, r.In(field).Refuse(what, "", want, statement.Correct)
	}
	kinds := map[string]id.Prefix{ofCounterparty: id.Counterparty, ofInvoice: id.Invoice, ofObligation: id.Obligation}
	meta.ID = l.ID
	if l.ID != "" {
		if err := id.Check(kinds[r.Type], l.ID); err != nil {
			return refuse("id", "the id cannot be taken: "+err.Error(), "an id of its kind, or none")
		}
	}
	name := partyName(cmp.Or(l.Name, l.Counterparty))
	if name == "" {
		return refuse(map[bool]string{true: "name", false: "counterparty"}[r.Type == ofCounterparty], "the name is missing", "a name")
	}
	if r.Type == ofCounterparty {
		row := counterpartyRow(name, meta)
		row.ID, row.Type = cmp.Or(l.ID, counterpartyID(t, name)), cmp.Or(l.Kind, "other")
		for _, alias := range l.Aliases {
			if alias = partyName(alias); alias != "" {
				row.Aliases = append(row.Aliases, alias)
			}
		}
		return planned{row: row, place: r.Place}, nil
	}
	row, err := owed(t, r.Type, l, meta, ledger.Fold(name))
	if err != nil {
		return refuse("amount_due", "an amount cannot be read: "+err.Error(), "a decimal such as 12.50, in its currency")
	}
	return planned{row: row, party: name, place: r.Place}, nil
}

// owed is an invoice or an obligation.
func owed(t identity.Tenant, kind string, l line, meta ledger.Meta, name string) (ledger.Row, error) {
	c, err := money.Parse(l.Currency)
	if err != nil {
		return nil, err
	}
	due, err := money.ParseAmount(l.AmountDue.String(), c)
	if err != nil {
		return nil, err
	}
	if kind == ofInvoice {
		meta.ID = cmp.Or(meta.ID, derive(id.Invoice, t, name, l.Direction, l.Number))
		return &ledger.Invoice{
			Meta: meta, InvoiceNumber: clean(l.Number, maxName), Direction: l.Direction, AmountDue: due.String(), AmountPaid: cmp.Or(l.AmountPaid.String(), "0"),
			Currency: l.Currency, IssueDate: l.IssueDate, DueDate: l.DueDate, Status: cmp.Or(l.Status, "sent"),
		}, nil
	}
	meta.ID = cmp.Or(meta.ID, derive(id.Obligation, t, name, l.Kind, l.Direction, l.DueDate, due.Minor(), l.Currency))
	return &ledger.Obligation{
		Meta: meta, Type: cmp.Or(l.Kind, "other"), Direction: l.Direction, AmountDue: due.String(), MinimumDue: optional(l.MinimumDue.String(), maxName),
		Currency: l.Currency, DueDate: l.DueDate, Recurrence: optional(l.Recurrence, maxText), Status: cmp.Or(l.Status, "upcoming"),
	}, nil
}

// decode reads a line strictly: a field that its type does not have is a mistake
// of whoever wrote it.
func decode(r *statement.Record, into *line) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(r.Object, &members); err != nil {
		return r.Refuse("the line cannot be read", "", "one JSON object", statement.Correct)
	}
	for name := range members {
		if !slices.Contains(fields[r.Type], name) {
			return r.In(name).Refuse("the line has a field that its type does not have", name, "one of "+strings.Join(fields[r.Type], ", "), statement.Correct)
		}
	}
	err := json.Unmarshal(r.Object, into)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return r.In(wrong.Field).Refuse("the value is of the wrong kind", wrong.Value, "a text or, of an amount, a number", statement.Correct)
	}
	if err != nil {
		return r.Refuse(fmt.Sprintf("the line cannot be read: %v", err), "", "the fields of its type", statement.Correct)
	}
	return nil
}
