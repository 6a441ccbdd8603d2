// Package brain is the provider of the brain:// URIs: a company's ledger, wiki
// and proofs as an agent reads them.
package brain

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/robotmoney/mcp/shared/domain/cursor"
	"github.com/robotmoney/mcp/shared/domain/evidence"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/proof"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/question"
	"github.com/robotmoney/mcp/shared/domain/raw"
	"github.com/robotmoney/mcp/shared/domain/wiki"
	"github.com/robotmoney/mcp/shared/surface/catalog"
)

// Sources are what the provider reads.
type Sources struct {
	Ledger   *ledger.Reader
	Desk     *proposals.Desk
	Pages    *wiki.Reader
	Proofs   *proof.Reader
	Cursors  cursor.Sealer
	Raw      *raw.Archive
	Evidence *evidence.Resolver

	// Model makes a planner of questions that falls back to the rules; nil leaves
	// them to the rules alone.
	Model func(rules question.Rules) question.Planner
	// Revision changes with every write to a tenant's ledger. With it, answers to
	// questions are kept for a while; nil answers each anew.
	Revision func(ctx context.Context, t identity.Tenant) (string, error)
}

const (
	jsonType = "application/json"
	markdown = "text/markdown"
)

// Provider makes the provider.
func Provider(s Sources) catalog.Provider {
	return catalog.Provider{
		Name:    "brain",
		Prompts: Prompts(s),
		Tools: slices.Concat(
			LedgerTools(s.Ledger, s.Cursors),
			WikiTools(s.Pages, s.questions()),
			RawTools(s.Raw),
			IntentTools(s.Desk, s.Cursors),
			AuthorizationTools(s.Desk),
			ProposalTools(s.Desk, s.Cursors),
			[]catalog.Tool{EvidenceTool(s.Evidence)},
		),
		Resources: []catalog.Resource{{
			URI: "brain://payments/action_types", Name: "PaymentIntent action types", MIMEType: jsonType,
			Description: "Canonical action_type vocabulary + required fields for payment_intent.propose.",
			Scopes:      []identity.Scope{identity.IntentPropose},
			Read:        actionTypes,
		}},
		Templates: []catalog.Template{
			row("brain://ledger/accounts/{account_id}", "Account", "Account row + latest balance.", s, id.Account, s.Ledger.Account),
			row("brain://ledger/transactions/{transaction_id}", "Transaction", "Transaction row.", s, id.Transaction, s.row(id.Transaction)),
			row("brain://ledger/obligations/{obligation_id}", "Obligation", "Obligation row.", s, id.Obligation, s.row(id.Obligation)),
			row("brain://ledger/payment-intents/{id}", "PaymentIntent", "PaymentIntent row + PolicyDecision id.", s, id.PaymentIntent, s.Desk.Intent),
			{
				// The printed template is the documented one; a slug holds slashes.
				URITemplate: "brain://wiki/pages/{slug}", Match: "brain://wiki/pages/{+slug}",
				Name: "Wiki page", MIMEType: markdown, Description: "Memory page (markdown body).",
				Scopes: []identity.Scope{identity.WikiRead}, Read: s.page, Complete: s.slugs,
			},
			{
				URITemplate: "brain://proofs/{action_id}", Name: "Action proof (H-07)", MIMEType: jsonType,
				Description: "Canonical proof for an executed action: gate trace, policy decision, audit before/after, Merkle proof, and on-chain anchor tx hash.",
				Scopes:      []identity.Scope{identity.AuditRead}, Read: s.proof,
			},
		},
	}
}

func actionTypes(context.Context, catalog.Call) (catalog.Contents, error) {
	return catalog.JSON(map[string]any{"action_types": payments.Vocabulary})
}

// read is how a row is read by its id.
type read func(ctx context.Context, t identity.Tenant, name string) (json.RawMessage, error)

// row makes the template of a row, whose one variable is the row's id.
func row(uri, name, description string, s Sources, kind id.Prefix, read read) catalog.Template {
	return catalog.Template{
		URITemplate: uri, Name: name, Description: description, MIMEType: jsonType,
		Scopes: []identity.Scope{identity.LedgerRead},
		Read: func(ctx context.Context, call catalog.Call, vars catalog.Vars) (catalog.Contents, error) {
			for _, name := range vars { // the only one
				body, err := read(ctx, call.Principal.Tenant, name)
				return catalog.Raw(body), err
			}
			return catalog.Contents{}, nil
		},
		Complete: func(ctx context.Context, call catalog.Call, _, prefix string, limit int) ([]string, error) {
			return s.Ledger.Names(ctx, call.Principal.Tenant, kind, prefix, limit)
		},
	}
}

func (s Sources) row(kind id.Prefix) read {
	return func(ctx context.Context, t identity.Tenant, name string) (json.RawMessage, error) {
		return s.Ledger.Row(ctx, t, kind, name)
	}
}

func (s Sources) page(ctx context.Context, call catalog.Call, vars catalog.Vars) (catalog.Contents, error) {
	page, err := s.Pages.Page(ctx, call.Principal.Tenant, vars["slug"])
	return catalog.Text(page.Body), err
}

func (s Sources) slugs(ctx context.Context, call catalog.Call, _, prefix string, limit int) ([]string, error) {
	return s.Pages.Slugs(ctx, call.Principal.Tenant, prefix, limit)
}

func (s Sources) proof(ctx context.Context, call catalog.Call, vars catalog.Vars) (catalog.Contents, error) {
	body, err := s.Proofs.Proof(ctx, call.Principal.Tenant, vars["action_id"])
	return catalog.Raw(body), err
}
