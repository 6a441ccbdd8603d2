package identity

import (
	"fmt"
	"slices"
	"strings"
)

// Scope names one thing a caller may do.
type Scope string

// The scopes of the surface. A token with any other scope is invalid.
const (
	LedgerRead       Scope = "ledger:read"
	WikiRead         Scope = "wiki:read"
	RawRead          Scope = "raw:read"
	RawWrite         Scope = "raw:write"
	IntentPropose    Scope = "payment_intent:propose"
	IntentApprove    Scope = "payment_intent:approve"
	ExecutionRead    Scope = "execution:read"
	ExecutionPropose Scope = "execution:propose"
	AuditRead        Scope = "audit:read"
)

// AllScopes lists every scope in byte order.
var AllScopes = Scopes{AuditRead, ExecutionPropose, ExecutionRead, LedgerRead, IntentApprove, IntentPropose, RawRead, RawWrite, WikiRead}

// reads are the scopes that change nothing: what a viewer may do.
var reads = Scopes{AuditRead, ExecutionRead, LedgerRead, RawRead, WikiRead}

// decides are reads and what opens the door of a decision: what an approver may
// do.
var decides = Scopes{AuditRead, ExecutionRead, LedgerRead, IntentApprove, RawRead, WikiRead}

// Scopes is a set of scopes: sorted by byte, each once.
type Scopes []Scope

// ParseScopes makes a set of known scopes out of names; an unknown name is an
// error, so that a misspelt grant is noticed and not silently empty.
func ParseScopes(names []string) (Scopes, error) {
	set := make(Scopes, 0, len(names))
	for _, name := range names {
		if !slices.Contains(AllScopes, Scope(name)) {
			return nil, fmt.Errorf("unknown scope %.80q: want some of %s", name, AllScopes)
		}
		set = append(set, Scope(name))
	}
	slices.Sort(set)
	return slices.Compact(set), nil
}

// Has says whether the set holds the scope.
func (s Scopes) Has(scope Scope) bool { return slices.Contains(s, scope) }

// Missing returns what of wanted the set lacks, in wanted's order.
func (s Scopes) Missing(wanted []Scope) []Scope {
	var missing []Scope
	for _, scope := range wanted {
		if !s.Has(scope) {
			missing = append(missing, scope)
		}
	}
	return missing
}

// Intersect returns the scopes both sets hold: how a token narrows a grant and
// never widens it.
func (s Scopes) Intersect(other Scopes) Scopes {
	both := make(Scopes, 0, len(s))
	for _, scope := range s {
		if other.Has(scope) {
			both = append(both, scope)
		}
	}
	return both
}

// Strings returns the names.
func (s Scopes) Strings() []string {
	names := make([]string, len(s))
	for i, scope := range s {
		names[i] = string(scope)
	}
	return names
}

// String joins the names with blanks, as OAuth writes a scope parameter.
func (s Scopes) String() string { return strings.Join(s.Strings(), " ") }

// Hash is the scope hash the registry holds: Keccak-256 over the sorted unique
// names joined by "|". No scope name contains that character, so two different
// sets never share a preimage.
func (s Scopes) Hash() Hash {
	set := slices.Clone(s)
	slices.Sort(set)
	return Keccak([]byte(strings.Join(slices.Compact(set).Strings(), "|")))
}
