// Package listing writes what a file says as text, a line for each item, for
// people and for tests. The lines hold amounts and names: they are for whoever
// sent the file, and a log must not get them.
package listing

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/statement"
)

// Of lists all items. What was listed before an error is returned with it.
func Of(items statement.Items) (string, error) {
	var b strings.Builder
	for item, err := range items {
		if err != nil {
			return b.String(), err
		}
		b.WriteString(Line(item))
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// Line is one item, without a line break: its kind, what it always has, and the
// fields that are not empty as name=value.
func Line(item statement.Item) string {
	switch x := item.(type) {
	case *statement.Statement:
		return account(x)
	case *statement.Entry:
		return entry(x)
	case *statement.Balance:
		return line("balance", string(x.Level), signed(x.Amount), string(x.Date), flag("page", x.Page))
	case *statement.Note:
		return line("note", string(x.Topic), "line="+strconv.Itoa(x.Line), x.Text)
	case *statement.Record:
		return line("record", x.Type, string(x.Object))
	}
	return fmt.Sprintf("%T", item)
}

func account(s *statement.Statement) string {
	a := s.Account
	return line("statement", string(s.Kind), field("id", s.ID), field("number", s.Number), field("account", a.ID), field("bank", a.Bank),
		field("branch", a.Branch), field("type", a.Type), field("name", a.Name), field("from", string(s.From)), field("to", string(s.To)),
		field("currency", s.Currency.String()))
}

func entry(e *statement.Entry) string {
	parts := []string{"entry", string(e.Booked), string(e.Direction), signed(e.Amount), string(e.Status), flag("reversal", e.Reversal),
		field("value", string(e.Value)), field("initiated", string(e.Initiated)), field("type", e.Type),
		field("bank", e.Refs.Bank), field("e2e", e.Refs.EndToEnd), field("customer", e.Refs.Customer), field("mandate", e.Refs.Mandate),
		field("creditor", e.Refs.Creditor), field("instructed", e.Refs.Instructed), field("check", e.Refs.Check),
		field("name", e.Party.Name), field("account", e.Party.Account), field("bic", e.Party.Bank),
		field("memo", e.Memo), field("raw", e.Raw)}
	if b := e.Batch; b != (statement.Batch{}) {
		parts = append(parts, fmt.Sprintf("part=%d/%d", b.Part, b.Parts), field("batch", b.Ref))
	}
	if !e.Original.Amount.Currency().IsZero() {
		parts = append(parts, "original="+signed(e.Original.Amount))
	}
	parts = append(parts, field("rate", e.Original.Rate))
	for _, c := range e.Charges {
		parts = append(parts, "charge="+string(c.Direction)+" "+signed(c.Amount), flag("included", c.Included))
	}
	if !e.Running.Currency().IsZero() {
		parts = append(parts, "running="+signed(e.Running))
	}
	return line(parts...)
}

// line joins the parts that are something.
func line(parts ...string) string {
	var b strings.Builder
	for _, part := range parts {
		if part == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(part)
	}
	return b.String()
}

func field(name, value string) string {
	if value == "" {
		return ""
	}
	if strings.ContainsAny(value, " =\"\n") {
		value = strconv.Quote(value)
	}
	return name + "=" + value
}

func flag(name string, on bool) string {
	if on {
		return name
	}
	return ""
}

func signed(a money.Amount) string { return a.String() + " " + a.Currency().String() }
