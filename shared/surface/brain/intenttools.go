package brain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/cursor"
	"github.com/robotmoney/mcp/shared/domain/fence"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/listing"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/surface/catalog"
	"github.com/robotmoney/mcp/shared/surface/schema"
	"github.com/robotmoney/mcp/shared/surface/tool"
)

// IntentTools are the tools of payment intents: propose one, take it back, list
// one's own. None of them pays.
func IntentTools(desk *proposals.Desk, seal cursor.Sealer) []catalog.Tool {
	return []catalog.Tool{intentPropose(desk), intentCancel(desk), intentList(desk).tool(seal)}
}

// paymentArguments are what a payment takes, whether it is proposed or only asked
// about.
var paymentArguments = []schema.Field{
	{Name: "action_type", Type: schema.String, Required: true, Enum: payments.Types(), Description: "How to pay. brain://payments/action_types says what each needs."},
	{Name: "source_account_id", Type: schema.String, Required: true, Min: 1, Max: 128, Description: "Own account the money leaves (or, for ach_inbound, reaches), such as acct_8231. Active and in the payment's currency."},
	{Name: "destination_counterparty_id", Type: schema.String, Required: true, Min: 1, Max: 128, Description: "Who is paid (or, for ach_inbound, pays), such as cp_aws, from ledger.counterparties.list."},
	{Name: "amount", Type: schema.String, Required: true, Min: 1, Max: 64, Description: "Decimal text above zero with at most the currency's decimals, such as 61404.12. No sign, no exponent, no separators."},
	{Name: "currency", Type: schema.String, Required: true, Min: 3, Max: 4, Description: "ISO 4217 code in capitals; USDC for onchain_transfer, x402_settle and escrow_release."},
	{Name: "obligation_id", Type: schema.String, Min: 1, Max: 128, Description: "The open obligation this settles, owed to the same counterparty."},
	{Name: "invoice_id", Type: schema.String, Min: 1, Max: 128, Description: "The invoice this pays, of the same counterparty."},
	{Name: "evidence_ids", Type: schema.Array, Max: payments.MaxEvidence, Description: "Ids of rows and artifacts the payment rests on.",
		Items: &schema.Field{Type: schema.String, Min: 1, Max: 128}},
	{Name: "memo", Type: schema.String, Min: 1, Max: payments.MaxMemo, Description: "What people read beside the amount."},
	{Name: "pay_to", Type: schema.String, Min: 1, Max: 64, Description: "x402_settle only: the address to pay, 0x and 40 hexadecimal digits with their checksum."},
	{Name: "escrow_id", Type: schema.String, Min: 1, Max: 128, Description: "escrow_release only: the escrow."},
	{Name: "job_terms_hash", Type: schema.String, Min: 1, Max: 80, Description: "escrow_release only: 0x and 64 hexadecimal digits."},
}

var keyArgument = schema.Field{Name: "idempotency_key", Type: schema.String, Min: 1, Max: 255,
	Description: "Reuse the same key when retrying after a timeout: the first result comes back. Another proposal takes another key."}

// payment reads the arguments of a payment.
func payment(args schema.Values) payments.Payment {
	p := payments.Payment{
		ActionType: payments.ActionType(args.Text("action_type")), SourceAccountID: args.Text("source_account_id"),
		DestinationCounterpartyID: args.Text("destination_counterparty_id"), Amount: args.Text("amount"), Currency: args.Text("currency"),
		ObligationID: optional(args, "obligation_id"), InvoiceID: optional(args, "invoice_id"), Memo: optional(args, "memo"),
		PayTo: optional(args, "pay_to"), EscrowID: optional(args, "escrow_id"), JobTermsHash: optional(args, "job_terms_hash"),
	}
	for _, item := range args.List("evidence_ids") {
		name, _ := item.(string)
		p.EvidenceIDs = append(p.EvidenceIDs, name)
	}
	return p
}

func optional(args schema.Values, name string) *string {
	if text, given := args[name].(string); given {
		return &text
	}
	return nil
}

// decisionFields are what a policy said, as answers show it.
var decisionFields = []schema.Field{
	{Name: "outcome", Type: schema.String, Required: true, Enum: []string{"auto", "confirm", "reject"}, Description: "auto: no person is needed. confirm: the required approvers must approve. reject: it may not happen."},
	texts("matched_rules"),
	{Name: "required_approvers", Type: schema.Array, Required: true, Description: "A role for each person who must approve.", Items: &schema.Field{Type: schema.String}},
	{Name: "required_evidence_kinds", Type: schema.Array, Required: true, Description: "Kinds of evidence that must be there when it is executed.", Items: &schema.Field{Type: schema.String}},
	{Name: "human_floor", Type: schema.Boolean, Required: true, Description: "A person must approve although the policy alone would not ask for one."},
	{Name: "headroom", Type: schema.Array, Required: true, Description: "What each cap leaves after this.", Items: &schema.Field{Type: schema.Object, Fields: []schema.Field{
		plain("rule"), plain("window"), plain("per"), plain("limit"),
		{Name: "left", Type: schema.String, Required: true, Description: "Negative when the cap is exceeded."},
		{Name: "currency", Type: schema.String, Description: "Absent where proposals are counted."},
		{Name: "within", Type: schema.Boolean, Required: true},
	}}},
	{Name: "trace", Type: schema.Array, Required: true, Description: "Every rule and each of its conditions, passed or why not.", Items: &schema.Field{Type: schema.Object}},
	{Name: "policy_version", Type: schema.Integer, Required: true},
	{Name: "policy_hash", Type: schema.String, Required: true},
}

// decision is a decision as answers show it.
type decision struct {
	Outcome       string   `json:"outcome"`
	Matched       []string `json:"matched_rules"`
	Approvers     []string `json:"required_approvers"`
	EvidenceKinds []string `json:"required_evidence_kinds"`
	HumanFloor    bool     `json:"human_floor"`
	Headroom      any      `json:"headroom"`
	Trace         any      `json:"trace"`
	PolicyVersion int64    `json:"policy_version"`
	PolicyHash    string   `json:"policy_hash"`
}

func shownDecision(d proposals.Decision) decision {
	return decision{string(d.Outcome), d.Matched, d.Approvers, d.EvidenceKinds, d.HumanFloor, d.Headroom, d.Trace, d.PolicyVersion, d.PolicyHash}
}

func decided(required bool) schema.Field {
	return schema.Field{Name: "decision", Type: schema.Object, Required: required, Description: "What the policy says of it.", Fields: decisionFields}
}

// paymentFields are a payment as answers show it.
var paymentFields = []schema.Field{
	choice("action_type", payments.Types()), plain("source_account_id"), plain("destination_counterparty_id"),
	amount("amount", false), currency, nullable("obligation_id"), nullable("invoice_id"), texts("evidence_ids"), nullable("memo"),
	{Name: "pay_to", Type: schema.String}, {Name: "escrow_id", Type: schema.String}, {Name: "job_terms_hash", Type: schema.String},
}

// intentFields are an intent as answers show it, without what only some have.
var intentFields = slices.Concat(
	[]schema.Field{plain("tenant_id"), plain("agent_id"), choice("status", words(proposals.Statuses))},
	paymentFields,
	[]schema.Field{
		nullable("authorization_id"), nullable("policy_decision_id"), approvals,
		moment("created_at", false), moment("updated_at", false), moment("expires_at", true),
	})

var approvals = schema.Field{Name: "approvals", Type: schema.Array, Required: true, Description: "Who approved.", Items: &schema.Field{Type: schema.Object, Fields: []schema.Field{
	plain("member_id"), plain("role"), plain("hash"), {Name: "policy_version", Type: schema.Integer, Required: true}, moment("at", false),
	{Name: "note", Type: schema.String}, {Name: "second", Type: schema.Boolean},
}}}

func words[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, word := range list {
		out[i] = string(word)
	}
	return out
}

func intentPropose(desk *proposals.Desk) catalog.Tool {
	return tool.Spec{
		Name: "payment_intent.propose", Title: "Propose a payment", Kind: tool.Adds, Scopes: []identity.Scope{identity.IntentPropose},
		Description: "Proposes a payment. The company's signed policy decides at once: approved, pending_approval (people must decide) or rejected; the trace says why. " +
			"It never moves money itself. Check the account, the counterparty and the obligation first; dry_run tells what would be decided and writes nothing. " +
			"Send an idempotency_key so that a retry does not propose twice.",
		In: append(slices.Clone(paymentArguments),
			schema.Field{Name: "authorization_id", Type: schema.String, Min: 1, Max: 128, Description: "An authorization of yours to use, for the same payee, account, type and currency and at most its amount."},
			keyArgument,
			schema.Field{Name: "dry_run", Type: schema.Boolean, Default: false, Description: "Only say what would be decided."}),
		Out: append(append([]schema.Field{{Name: "id", Type: schema.String, Description: "The intent's id; absent for a dry run."}}, intentFields...),
			decided(true),
			schema.Field{Name: "proposal_hash", Type: schema.String, Required: true, Description: "SHA-256 of what people approve: the payment and the payee's details as they are now."},
			schema.Field{Name: "replayed", Type: schema.Boolean, Required: true, Description: "It was there before this call."},
			schema.Field{Name: "dry_run", Type: schema.Boolean, Required: true}),
		Run: func(ctx context.Context, call catalog.Call, args schema.Values) (tool.Answer, error) {
			answer, err := desk.Propose(ctx, call.Principal, call.RequestID, proposals.Proposal{
				Payment: payment(args), AuthorizationID: args.Text("authorization_id"),
				IdempotencyKey: args.Text("idempotency_key"), DryRun: args.Bool("dry_run", false),
			})
			if err != nil {
				return tool.Answer{}, err
			}
			shown := struct {
				proposals.Intent
				ID       string   `json:"id,omitempty"`
				Decision decision `json:"decision"`
				Hash     string   `json:"proposal_hash"`
				Replayed bool     `json:"replayed"`
				DryRun   bool     `json:"dry_run"`
			}{answer.Intent(), answer.ID, shownDecision(answer.Decision), answer.Hash, answer.Replayed, answer.DryRun}
			return tool.Answer{Text: proposed(answer, args.Text("idempotency_key") != ""), Structured: shown}, nil
		},
	}.Tool()
}

// proposed says what became of a proposal and what to do next.
func proposed(a proposals.Answer, keyed bool) string {
	pay := fmt.Sprintf("%s of %s %s to `%s`", a.ActionType, a.Payment.Amount, a.Currency, a.DestinationCounterpartyID)
	if a.DryRun {
		return fmt.Sprintf("Dry run: %s would be %s. %s Nothing was written.", pay, a.Status, because(a))
	}
	text := fmt.Sprintf("Payment intent `%s`, %s, is %s. %s %s", a.ID, pay, a.Status, because(a), next(a))
	if a.Replayed {
		text = "This was proposed before, and is the first one. " + text
		if !keyed {
			text += " If you mean a second, equal payment, propose it with an idempotency_key of its own."
		}
	}
	return text
}

// because is the policy's decision in words, with what the ledger said in an
// evaluation of a later day.
func because(a proposals.Answer) string { return a.Standing.Ruling.Explain() }

// next is what to do about an intent as it stands.
func next(a proposals.Answer) string {
	switch a.Status {
	case proposals.Pending, proposals.AwaitingSecond:
		return fmt.Sprintf("Next: a member decides with proposals.decide, proposal_id `%s` (needed: %s); until then payment_intent.cancel takes it back.",
			a.ID, strings.Join(cmpOr(a.Decision.Approvers, "a member"), " and "))
	case proposals.Approved:
		if kinds := a.Decision.EvidenceKinds; len(kinds) > 0 {
			return fmt.Sprintf("Next: the company's executor pays it if evidence of the kinds %s is attached.", strings.Join(kinds, ", "))
		}
		return "Next: nothing; the company's executor pays it after its own checks. Read brain://ledger/payment-intents/" + a.ID + " for what becomes of it."
	case proposals.Rejected:
		return "Next: read decision.trace for what stood against it; another amount, payee or time may pass. Do not split it to get under a limit: the caps count all of it."
	}
	return "Next: nothing."
}

func cmpOr(list []string, other string) []string {
	if len(list) == 0 {
		return []string{other}
	}
	return list
}

func intentCancel(desk *proposals.Desk) catalog.Tool {
	return tool.Spec{
		Name: "payment_intent.cancel", Title: "Cancel a payment intent", Kind: tool.Kind{Writes: true, Destructive: true, Idempotent: true},
		Scopes:      []identity.Scope{identity.IntentPropose},
		Description: "Takes back a payment intent of your own that still waits for people. What it had promised is free again. An approved one cannot be taken back here.",
		In:          []schema.Field{{Name: "intent_id", Type: schema.String, Required: true, Min: 1, Max: 128, Description: "The intent's id, pi_ and more."}},
		Out:         append([]schema.Field{plain("id")}, intentFields...),
		Run: func(ctx context.Context, call catalog.Call, args schema.Values) (tool.Answer, error) {
			c, err := desk.Cancel(ctx, call.Principal, call.RequestID, args.Text("intent_id"))
			if err != nil {
				return tool.Answer{}, err
			}
			return tool.Answer{Text: fmt.Sprintf("Payment intent `%s` of %s %s is %s.", c.ID, c.Amount, c.Currency, c.Status), Structured: c.Intent()}, nil
		},
	}.Tool()
}

func intentList(desk *proposals.Desk) lister {
	return lister{
		name: "payment_intent.list", title: "List own payment intents", what: "payment intents", most: 100, usual: 50, own: true,
		description: "The payment intents you proposed, the newest first. For everybody's, with what people need to decide, use proposals.list.",
		in:          []schema.Field{{Name: "status", Type: schema.String, Enum: words(proposals.Statuses), Description: "Only intents in this state."}},
		row:         append([]schema.Field{plain("id")}, intentFields...),
		page: func(ctx context.Context, call catalog.Call, args schema.Values, w listing.Window) (listing.Page, error) {
			return desk.List(ctx, call.Principal, proposals.Status(args.Text("status")), w)
		},
		line: summarize(func(i proposals.Intent) string {
			return fmt.Sprintf("`%s` %s %s %s to `%s`, %s, proposed %s%s", i.ID, i.ActionType, i.Amount, i.Currency, i.DestinationCounterpartyID, i.Status, i.CreatedAt, memo(i.Memo))
		}),
	}
}

func memo(text *string) string {
	if text == nil {
		return ""
	}
	return ", " + fence.Text(*text)
}
