package brain

import (
	"context"
	"fmt"
	"time"

	"github.com/robotmoney/mcp/shared/domain/cursor"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/fence"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/listing"
	"github.com/robotmoney/mcp/shared/surface/catalog"
	"github.com/robotmoney/mcp/shared/surface/schema"
	"github.com/robotmoney/mcp/shared/surface/tool"
)

// LedgerTools are the five reads of the ledger.
func LedgerTools(reader *ledger.Reader, seal cursor.Sealer) []catalog.Tool {
	return []catalog.Tool{
		accountGet(reader),
		accountsList(reader).tool(seal),
		transactionsList(reader).tool(seal),
		obligationsList(reader).tool(seal),
		counterpartiesList(reader).tool(seal),
	}
}

func accountGet(reader *ledger.Reader) catalog.Tool {
	return tool.Spec{
		Name: "ledger.account.get", Title: "Get an account", Scopes: []identity.Scope{identity.LedgerRead}, Kind: tool.Reads,
		Description: "One account by its id, with its latest balance. Use it when you know the account_id; to find one, use ledger.accounts.list.",
		In:          []schema.Field{{Name: "account_id", Type: schema.String, Required: true, Min: 1, Max: 128, Description: "Id of the account, such as acct_8231."}},
		Out: []schema.Field{object("account", "The account's row.", accountFields),
			{Name: "latest_balance", Type: schema.Object, Required: true, Nullable: true, Description: "The latest balance on record, null when there is none.", Fields: balanceFields}},
		Run: func(ctx context.Context, call catalog.Call, args schema.Values) (tool.Answer, error) {
			account, balance, err := reader.AccountAndBalance(ctx, call.Principal.Tenant, args.Text("account_id"))
			if err != nil {
				return tool.Answer{}, err
			}
			text := accountLine(account)
			if balance != nil {
				text += fmt.Sprintf("\nLatest balance, as of %s: %s %s.", balance.AsOf, balance.Current, balance.Currency)
			}
			return tool.Answer{Text: text, Structured: map[string]any{"account": account, "latest_balance": balance}}, nil
		},
	}.Tool()
}

func accountsList(reader *ledger.Reader) lister {
	return lister{
		name: "ledger.accounts.list", title: "List accounts", what: "accounts", most: 500, usual: 50,
		description: "The company's accounts (bank, card, loan, on-chain, payment processor) with their balances, by id. total_count is over all pages.",
		in: []schema.Field{
			{Name: "status", Type: schema.String, Enum: ledger.AccountStatuses, Description: "Only accounts in this state."},
			{Name: "account_type", Type: schema.String, Enum: ledger.AccountTypes, Description: "Only accounts of this type."},
		},
		row:  accountFields,
		more: []schema.Field{{Name: "total_count", Type: schema.Integer, Required: true, Description: "How many accounts match over all pages."}},
		page: func(ctx context.Context, call catalog.Call, args schema.Values, w listing.Window) (listing.Page, error) {
			return reader.Accounts(ctx, call.Principal.Tenant, args.Text("status"), args.Text("account_type"), w)
		},
		extra: func(ctx context.Context, t identity.Tenant, args schema.Values) (map[string]any, error) {
			total, err := reader.AccountsTotal(ctx, t, args.Text("status"), args.Text("account_type"))
			return map[string]any{"total_count": total}, err
		},
		line: summarize(func(a ledger.Account) string { return accountLine(&a) }),
	}
}

func transactionsList(reader *ledger.Reader) lister {
	return lister{
		name: "ledger.transactions.list", title: "List transactions", what: "transactions", most: 1000, usual: 100,
		description: "Money that moved, the newest first. Filter by account or counterparty where you can: those are served by an index. since is included, until is not.",
		in: []schema.Field{
			{Name: "account_id", Type: schema.String, Min: 1, Max: 128, Description: "Only transactions of this account."},
			{Name: "counterparty_id", Type: schema.String, Min: 1, Max: 128, Description: "Only transactions with this counterparty."},
			{Name: "direction", Type: schema.String, Enum: ledger.Directions, Description: "Only this direction, as seen from the company."},
			{Name: "status", Type: schema.String, Enum: ledger.TransactionStatuses, Description: "Only transactions in this state."},
			{Name: "since", Type: schema.String, Min: 10, Max: 40, Description: "From this date on, YYYY-MM-DD, or an RFC 3339 time with an offset."},
			{Name: "until", Type: schema.String, Min: 10, Max: 40, Description: "Before this date, YYYY-MM-DD, or an RFC 3339 time with an offset."},
		},
		row: transactionFields,
		page: func(ctx context.Context, call catalog.Call, args schema.Values, w listing.Window) (listing.Page, error) {
			since, err := bound(args, "since")
			if err != nil {
				return listing.Page{}, err
			}
			until, err := bound(args, "until")
			if err != nil {
				return listing.Page{}, err
			}
			return reader.Transactions(ctx, call.Principal.Tenant, ledger.TransactionFilter{
				AccountID: args.Text("account_id"), CounterpartyID: args.Text("counterparty_id"),
				Direction: args.Text("direction"), Status: args.Text("status"), Since: since, Until: until,
			}, w)
		},
		line: summarize(func(x ledger.Transaction) string {
			return fmt.Sprintf("`%s` %s %s %s %s, %s%s", x.ID, x.TransactionDate, x.Direction, x.Amount, x.Currency, x.Status, described(x.Description))
		}),
	}
}

func obligationsList(reader *ledger.Reader) lister {
	return lister{
		name: "ledger.obligations.list", title: "List obligations", what: "obligations", most: 500, usual: 50,
		description: "What the company owes (payable) and is owed (receivable), by due date, the earliest first: bills, subscriptions, rent, payroll, taxes. due_before is not included.",
		in: []schema.Field{
			{Name: "status", Type: schema.String, Enum: ledger.ObligationStatuses, Description: "Only obligations in this state. due is within 7 days."},
			{Name: "type", Type: schema.String, Enum: ledger.ObligationTypes, Description: "Only obligations of this type."},
			{Name: "direction", Type: schema.String, Enum: ledger.OwedDirections, Description: "payable is owed by the company, receivable to it."},
			{Name: "due_before", Type: schema.String, Min: 10, Max: 40, Description: "Due before this date, YYYY-MM-DD, or an RFC 3339 time with an offset."},
		},
		row: obligationFields,
		page: func(ctx context.Context, call catalog.Call, args schema.Values, w listing.Window) (listing.Page, error) {
			before, err := bound(args, "due_before")
			if err != nil {
				return listing.Page{}, err
			}
			return reader.Obligations(ctx, call.Principal.Tenant, ledger.ObligationFilter{
				Status: args.Text("status"), Type: args.Text("type"), Direction: args.Text("direction"), DueBefore: before,
			}, w)
		},
		line: summarize(func(o ledger.Obligation) string {
			return fmt.Sprintf("`%s` %s %s %s %s, due %s, %s, `%s`", o.ID, o.Direction, o.Type, o.AmountDue, o.Currency, o.DueDate, o.Status, o.CounterpartyID)
		}),
	}
}

func counterpartiesList(reader *ledger.Reader) lister {
	return lister{
		name: "ledger.counterparties.list", title: "List counterparties", what: "counterparties", most: 500, usual: 50,
		description: "Whom the company pays and is paid by, with risk and verified status. q finds a part of a name or alias, whatever its case and accents. Use it to get the counterparty_id other tools take.",
		in: []schema.Field{
			{Name: "q", Type: schema.String, Min: 1, Max: 200, Description: "A part of a name or alias."},
			{Name: "type", Type: schema.String, Enum: ledger.CounterpartyTypes, Description: "Only counterparties of this type."},
		},
		row: counterpartyFields,
		page: func(ctx context.Context, call catalog.Call, args schema.Values, w listing.Window) (listing.Page, error) {
			return reader.Counterparties(ctx, call.Principal.Tenant, args.Text("q"), args.Text("type"), w)
		},
		line: summarize(func(c ledger.Counterparty) string {
			return fmt.Sprintf("`%s` %s, %s, risk %s, %s", c.ID, fence.Text(c.Name), c.Type, c.RiskLevel, c.VerifiedStatus)
		}),
	}
}

func accountLine(a *ledger.Account) string {
	line := fmt.Sprintf("`%s` %s, %s, %s", a.ID, fence.Text(a.Name), a.AccountType, a.Status)
	if a.CurrentBalance != nil {
		line += fmt.Sprintf(", balance %s %s", *a.CurrentBalance, a.Currency)
	}
	return line
}

// described writes a description, which came from outside.
func described(text *string) string {
	if text == nil || *text == "" {
		return ""
	}
	return ", " + fence.Text(*text)
}

// bound reads a date, or a time as the first date that begins at or after it:
// rows have dates, and a date counts as its first instant. A time without an
// offset is refused: nobody could say which instant it is.
func bound(args schema.Values, name string) (string, error) {
	text := args.Text(name)
	if text == "" {
		return "", nil
	}
	if _, err := time.Parse(time.DateOnly, text); err == nil {
		return text, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Year() < 1 || at.Year() > 9998 {
		return "", fault.New(fault.InvalidArgument, "%s: want YYYY-MM-DD or an RFC 3339 time with an offset, got %.40q.", name, text)
	}
	day := at.UTC().Truncate(24 * time.Hour)
	if day.Before(at) {
		day = day.AddDate(0, 0, 1)
	}
	return day.Format(time.DateOnly), nil
}
