package journal_test

import (
	"fmt"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/journal"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/proof/claim"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// An entry is found by every action its event is about, and by no other.
func TestPlacesByAction(t *testing.T) {
	of := tenant(t)
	var all []journal.Event
	for n, rest := range []string{
		`"action":"payment_intent.proposed","after_state":{"id":"pi_1"},"inputs":{"authorization_id":"authz_1"}`,
		`"action":"authorization.consumed","after_state":{"id":"authz_1"},"inputs":{"authorization_id":"authz_1"}`,
		`"action":"payment_intent.execute.before","after_state":{"id":"pi_1"},"inputs":{"id":"pi_1","execution_id":"exec_1"}`,
		`"action":"proposal.decided","after_state":{"id":"prop_1"}`,
		`"action":"raw.contributed","after_state":{"id":"raw_1"},"inputs":{"id":"tx_1"}`,
		`"action":"agent.mcp.tool_called","inputs":{"id":"pi_1","uri":"brain://proofs/pi_1"}`,
		`"action":"payment_intent.proposed","after_state":{"id":"pi_1#x"}`,
		`"action":"payment_intent.proposed","after_state":{"ID":"pi_1"}`,
	} {
		all = append(all, event(t, fmt.Sprintf(`{"id":%q,"tenant_id":%q,%s}`, name(n), of.String(), rest)))
	}
	appends(t, engine.Table(), of, all)
	for action, want := range map[string]string{"pi_1": "[0 2]", "authz_1": "[0 1]", "exec_1": "[2]", "prop_1": "[3]", "pi_2": "[]"} {
		page, err := engine.Table().Query(t.Context(), record.Query{Index: claim.Index(action), PK: key.ProofEvents(of, action)})
		noError(t, err)
		found := []string{}
		for _, item := range page.Items {
			found = append(found, item.Index[claim.Index(action)-1].SK[18:])
		}
		equal(t, action, fmt.Sprint(found), want)
	}
	sound(t, of, len(all))
}

// The first entries of a tenant mark that it has a journal; a transaction of them
// is full, and goes through.
func TestTenantsAreListed(t *testing.T) {
	of, other := tenant(t), tenant(t)
	appends(t, engine.Table(), of, events(t, of, 0, 120))
	listed := func(of identity.Tenant) bool {
		_, found, err := engine.Table().Get(t.Context(), key.Journals(of))
		noError(t, err)
		return found
	}
	equal(t, "with entries", listed(of), true)
	equal(t, "without", listed(other), false)
	sound(t, of, 120)
}

// TestAnchorPlaces pins where anchors lie, and that a path is read right behind
// its entry.
func TestAnchorPlaces(t *testing.T) {
	acme, err := identity.OperatorTenant("acme")
	noError(t, err)
	k := func(pk, sk string) key.Key { return key.Key{PK: pk, SK: sk} }
	for name, c := range map[string]struct{ got, want key.Key }{
		"mark of a tenant": {key.Journals(acme), k("journals", "acme")},
		"entry of a proof": {key.ProofEntry(acme, "pi_1", 7), k("tenant#acme#proof#pi_1", "0000000000000000007")},
		"path of a proof":  {key.ProofPath(acme, "pi_1", 7), k("tenant#acme#proof#pi_1", "0000000000000000007#path")},
		"head":             {key.AnchorHead(acme), k("tenant#acme#anchor", "head")},
		"period":           {key.AnchorPeriod(acme, 7), k("tenant#acme#anchor", "period#0000000000000000007")},
		"path":             {key.AnchorPath(acme, 9, 7), k("tenant#acme#anchor#path#0000000000000000009", "0000000000000000007")},
		"open":             {key.AnchorOpen(acme, 7), k("anchors", "open#acme#0000000000000000007")},
		"flight":           {key.AnchorFlight(), k("anchors", "flight")},
	} {
		equal(t, name, c.got, c.want)
	}
	equal(t, "a path is behind its entry", key.ProofEntry(acme, "pi_1", 7).SK < key.ProofPath(acme, "pi_1", 7).SK, true)
	equal(t, "and before the next", key.ProofPath(acme, "pi_1", 7).SK < key.ProofEntry(acme, "pi_1", 8).SK, true)
}
