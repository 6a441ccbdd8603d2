package brain

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/surface/catalog"
	"github.com/robotmoney/mcp/shared/surface/schema"
	"github.com/robotmoney/mcp/shared/surface/tool"
)

// AuthorizationTools are the tools of authorizations: ask for one, look at it, and
// for people approve or reject it.
func AuthorizationTools(desk *proposals.Desk) []catalog.Tool {
	return []catalog.Tool{
		authorizationCreate(desk), authorizationGet(desk),
		authorizationDecide(desk, proposals.Approve, "Approve an authorization", "Approves an authorization that waits for people. Only an active member with approval authority for the payee's field and the amount; no agent can. Pass authorization_hash to bind the approval to what you were shown."),
		authorizationDecide(desk, proposals.Reject, "Reject an authorization", "Rejects an authorization that waits for people, or revokes one that is authorized and not used. Only an active member with approval authority; no agent can."),
	}
}

// authorizationFields are an authorization as answers show it.
var authorizationFields = slices.Concat(
	[]schema.Field{
		plain("id"), plain("tenant_id"), plain("agent_id"), choice("status", words(proposals.AuthorizationStatuses)), decided(true), nullable("policy_decision_id"),
		moment("expires_at", true), {Name: "authorization_hash", Type: schema.String, Required: true, Description: "SHA-256 of what people approve: the payment and the payee's details as they are now."},
	},
	paymentFields,
	[]schema.Field{
		plain("purpose"), nullable("consumed_by"), approvals, moment("created_at", false), moment("updated_at", false),
		{Name: "replayed", Type: schema.Boolean, Required: true, Description: "It was there before this call."},
	})

// shownAuthorization is an authorization as answers show it.
type shownAuthorization struct {
	proposals.Authorization
	Decision decision `json:"decision"`
	Hash     string   `json:"authorization_hash"`
	Replayed bool     `json:"replayed"`
}

func authorized(a proposals.Answer) tool.Answer {
	text := fmt.Sprintf("Authorization `%s` for %s of at most %s %s to `%s` is %s. %s", a.ID, a.ActionType, a.Payment.Amount, a.Currency, a.DestinationCounterpartyID, a.Status, because(a))
	switch a.Status {
	case proposals.Authorized:
		text += fmt.Sprintf(" Next: payment_intent.propose with authorization_id before %s; the amount is held until then.", *a.ExpiresAt)
	case proposals.Pending, proposals.AwaitingSecond:
		text += fmt.Sprintf(" Next: a member decides with authorizations.approve (needed: %s), before %s.", strings.Join(cmpOr(a.Decision.Approvers, "a member"), " and "), *a.ExpiresAt)
	case proposals.Denied:
		text += " Next: read decision.trace for what stood against it and decision.headroom for what would pass."
	}
	return tool.Answer{Text: text, Structured: shownAuthorization{a.Authorization(), shownDecision(a.Decision), a.Hash, a.Replayed}}
}

func authorizationCreate(desk *proposals.Desk) catalog.Tool {
	return tool.Spec{
		Name: "authorizations.create", Title: "Ask for an authorization", Kind: tool.Adds, Scopes: []identity.Scope{identity.IntentPropose},
		Description: "Asks before proposing: the policy decides at once, and an authorized amount is held under the caps until it is used by payment_intent.propose or expires. " +
			"Use it when a payment will follow within a day and must not be refused then.",
		In: append(slices.Clone(paymentArguments),
			schema.Field{Name: "purpose", Type: schema.String, Required: true, Min: 1, Max: proposals.MaxPurpose, Description: "What the payment is for; people read it."},
			schema.Field{Name: "expires_in", Type: schema.Integer, Min: int64(proposals.MinExpiry.Seconds()), Max: int64(proposals.MaxExpiry.Seconds()), Default: int64(proposals.DefaultExpiry.Seconds()), Description: "Seconds until it expires."},
			keyArgument),
		Out: authorizationFields,
		Run: func(ctx context.Context, call catalog.Call, args schema.Values) (tool.Answer, error) {
			a, err := desk.Authorize(ctx, call.Principal, call.RequestID, proposals.Request{
				Payment: payment(args), Purpose: args.Text("purpose"), IdempotencyKey: args.Text("idempotency_key"),
				ExpiresIn: time.Duration(args.Int("expires_in", int(proposals.DefaultExpiry.Seconds()))) * time.Second,
			})
			if err != nil {
				return tool.Answer{}, err
			}
			return authorized(a), nil
		},
	}.Tool()
}

var authorizationID = schema.Field{Name: "authorization_id", Type: schema.String, Required: true, Min: 1, Max: 128, Description: "The authorization's id, authz_ and more."}

func authorizationGet(desk *proposals.Desk) catalog.Tool {
	return tool.Spec{
		Name: "authorizations.get", Title: "Get an authorization", Kind: tool.Reads, AnyScope: true,
		Scopes:      []identity.Scope{identity.IntentPropose, identity.IntentApprove},
		Description: "An authorization with the decision about it: an agent's own, or for a member any of the tenant's.",
		In:          []schema.Field{authorizationID},
		Out:         authorizationFields,
		Run: func(ctx context.Context, call catalog.Call, args schema.Values) (tool.Answer, error) {
			a, err := desk.Authorization(ctx, call.Principal, args.Text("authorization_id"))
			if err != nil {
				return tool.Answer{}, err
			}
			return authorized(a), nil
		},
	}.Tool()
}

func authorizationDecide(desk *proposals.Desk, decision, title, description string) catalog.Tool {
	return tool.Spec{
		Name: "authorizations." + decision, Title: title, Description: description, Kind: tool.Decide,
		Scopes: []identity.Scope{identity.IntentApprove}, PeopleOnly: true,
		In: []schema.Field{authorizationID,
			{Name: "authorization_hash", Type: schema.String, Min: 64, Max: 64, Description: "The hash of what was shown; the call is refused when it has changed since."},
			noteArgument},
		Out: append(slices.Clone(authorizationFields), schema.Field{Name: "audit_event_id", Type: schema.String, Required: true, Nullable: true, Description: "The decision's audit event, null for a decision made before."}),
		Run: func(ctx context.Context, call catalog.Call, args schema.Values) (tool.Answer, error) {
			d, err := desk.DecideAuthorization(ctx, call.Principal, call.RequestID, proposals.Choice{
				Name: args.Text("authorization_id"), Decision: decision, Hash: args.Text("authorization_hash"), Note: args.Text("note"),
			})
			if err != nil {
				return tool.Answer{}, err
			}
			answer := authorized(d.Answer)
			shown, _ := answer.Structured.(shownAuthorization)
			answer.Structured = struct {
				shownAuthorization
				EventID *string `json:"audit_event_id"`
			}{shown, event(d)}
			answer.Text = outcome(d) + " " + answer.Text
			return answer, nil
		},
	}.Tool()
}
