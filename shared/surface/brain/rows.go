package brain

import (
	"slices"

	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/surface/schema"
)

// The fields of rows, as output schemas show them.
var (
	accountFields = entity(
		nullable("institution"), nullable("external_account_id"), choice("account_type", ledger.AccountTypes), plain("name"), currency,
		amount("current_balance", true), amount("available_balance", true), moment("balance_as_of", true), choice("status", ledger.AccountStatuses))

	balanceFields = []schema.Field{plain("account_id"), moment("as_of", false), amount("current", false), amount("available", true), amount("pending", true), currency}

	transactionFields = entity(
		plain("account_id"), nullable("external_transaction_id"), amount("amount", false), currency, choice("direction", ledger.Directions),
		day("transaction_date", false), day("posted_date", true), nullable("counterparty_id"), nullable("category"),
		schema.Field{Name: "allocations", Type: schema.Array, Required: true, Description: "What parts of the amount are for; they add up to it.",
			Items: &schema.Field{Type: schema.Object, Fields: []schema.Field{plain("label"), amount("amount", false)}}},
		choice("status", ledger.TransactionStatuses), nullable("description_raw"), nullable("description"),
		choice("reconciliation_status", ledger.ReconciliationStatuses), nullable("chain_tx_hash"))

	obligationFields = entity(
		choice("type", ledger.ObligationTypes), plain("counterparty_id"), choice("direction", ledger.OwedDirections), amount("amount_due", false),
		amount("minimum_due", true), currency, day("due_date", false), nullable("recurrence"), choice("status", ledger.ObligationStatuses), texts("linked_transaction_ids"))

	counterpartyFields = entity(
		plain("name"), plain("normalized_name"), choice("type", ledger.CounterpartyTypes), texts("aliases"), choice("risk_level", ledger.RiskLevels),
		choice("verified_status", ledger.VerifiedStatuses), texts("linked_accounts"), moment("details_changed_at", true),
		nullable("member_id"), nullable("agent_id"), nullable("onchain_address"))
)

var currency = schema.Field{Name: "currency", Type: schema.String, Required: true, Description: "ISO 4217 code, or USDC."}

// entity is the fields of an entity around those every row has.
func entity(own ...schema.Field) []schema.Field {
	head := []schema.Field{plain("id"), plain("tenant_id")}
	tail := []schema.Field{
		texts("source_ids"), texts("evidence_ids"), plain("provenance"),
		{Name: "confidence", Type: schema.Number, Required: true, Description: "0 to 1."},
		moment("created_at", false), moment("updated_at", false),
	}
	return slices.Concat(head, own, tail)
}

func plain(name string) schema.Field {
	return schema.Field{Name: name, Type: schema.String, Required: true}
}

func nullable(name string) schema.Field {
	return schema.Field{Name: name, Type: schema.String, Required: true, Nullable: true}
}

func choice(name string, of []string) schema.Field {
	return schema.Field{Name: name, Type: schema.String, Required: true, Enum: of}
}

func amount(name string, null bool) schema.Field {
	return schema.Field{Name: name, Type: schema.String, Required: true, Nullable: null, Description: "Decimal in the row's currency."}
}

func day(name string, null bool) schema.Field {
	return schema.Field{Name: name, Type: schema.String, Required: true, Nullable: null, Format: "date"}
}

func moment(name string, null bool) schema.Field {
	return schema.Field{Name: name, Type: schema.String, Required: true, Nullable: null, Format: "date-time"}
}

func texts(name string) schema.Field {
	return schema.Field{Name: name, Type: schema.Array, Required: true, Items: &schema.Field{Type: schema.String}}
}

// object is a member that is a row, and list one that is a page of them.
func object(name, description string, fields []schema.Field) schema.Field {
	return schema.Field{Name: name, Type: schema.Object, Required: true, Description: description, Fields: fields}
}

func list(fields []schema.Field, more ...schema.Field) []schema.Field {
	items := schema.Field{Name: "items", Type: schema.Array, Required: true, Items: &schema.Field{Type: schema.Object, Fields: fields}}
	next := schema.Field{Name: "next_cursor", Type: schema.String, Description: "Give it back as cursor for the next page; absent on the last."}
	return append([]schema.Field{items, next}, more...)
}
