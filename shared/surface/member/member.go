// Package member is the provider of the member:// URIs: an individual's own
// profile, traits and competencies, for that individual alone.
package member

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/member"
	"github.com/robotmoney/mcp/shared/surface/catalog"
)

const jsonType = "application/json"

// Provider makes the provider. Its URIs hold no id and need no scope: whoever
// reads one reads about their own self, and the filter hides them from agents.
func Provider(r *member.Reader) catalog.Provider {
	return catalog.Provider{
		Name:   "member",
		Filter: func(_ catalog.Summary, who identity.Principal) bool { return individual(who) },
		Resources: []catalog.Resource{{
			URI: "member://profile", Name: "Individual Profile", MIMEType: jsonType,
			Description: "The authenticated individual's profile data including assessment phase, archetype, and engagement level.",
			Read:        own(r.Profile),
		}, {
			URI: "member://traits", Name: "Individual Traits", MIMEType: jsonType,
			Description: "The authenticated individual's trait vector - tier-labelled traits across the 5 trait categories. Tier labels only; numeric scores are never returned to members.",
			Read:        own(r.Traits),
		}, {
			URI: "member://competencies", Name: "Individual Competencies", MIMEType: jsonType,
			Description: "The authenticated individual's competency portfolio - verified competencies, evidence log, and badges.",
			Read:        own(r.Portfolio),
		}},
	}
}

// individual says whether the caller is a person, by a token of the
// authorization server or by a capability token.
func individual(who identity.Principal) bool { return who.Kind == identity.User && who.Member != nil }

// own makes the read of one document about the caller.
func own[T any](read func(context.Context, identity.Tenant, identity.MemberRecord) (T, error)) func(context.Context, catalog.Call) (catalog.Contents, error) {
	return func(ctx context.Context, call catalog.Call) (catalog.Contents, error) {
		if !individual(call.Principal) { // the filter has judged it; a mistake there must not show a person's data
			return catalog.Contents{}, fault.New(fault.ResourceNotFound, "There is no such resource.")
		}
		document, err := read(ctx, call.Principal.Tenant, *call.Principal.Member)
		if err != nil {
			return catalog.Contents{}, err
		}
		// Indented: clients show it to the person as it is.
		text, err := json.MarshalIndent(document, "", "  ")
		if err != nil {
			return catalog.Contents{}, fmt.Errorf("encode %T: %w", document, err)
		}
		return catalog.Raw(text), nil
	}
}
