package charter_test

import (
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/key"
)

// TestTampered: whoever can write the table and cannot sign makes nothing pass:
// everything is denied and the trace says why.
func TestTampered(t *testing.T) {
	version := func(w *world) key.Key { return key.PolicyVersion(w.tenant, 2) }
	for _, c := range []struct {
		name, reason string
		do           func(t *testing.T, w *world)
	}{
		{"the document", "its hash differs", func(t *testing.T, w *world) {
			w.put(t, version(w), strings.Replace(w.body(t, version(w)), `"200.00"`, `"900.00"`, 1))
		}},
		{"the document and the head's hash", "is not signed", func(t *testing.T, w *world) {
			w.put(t, version(w), strings.Replace(w.body(t, version(w)), `"200.00"`, `"900.00"`, 1))
			w.put(t, key.PolicyHead(w.tenant), stored(t, 2, law(2, "900.00")))
		}},
		{"a signature", "is not signed", func(t *testing.T, w *world) {
			body := w.body(t, version(w))
			at := strings.Index(body, `"0x`) + 10
			digit := map[bool]string{true: "1", false: "0"}[body[at] == '0']
			w.put(t, version(w), body[:at]+digit+body[at+1:])
		}},
		{"a signature cut short", "cannot be read", func(t *testing.T, w *world) {
			body := w.body(t, version(w))
			at := strings.Index(body, `"0x`) + 10
			w.put(t, version(w), body[:at]+body[at+2:])
		}},
		{"no signature", "0 of the 1", func(t *testing.T, w *world) {
			body := w.body(t, version(w))
			from, to := strings.Index(body, `"signatures":[`), strings.Index(body, `"signers"`)
			w.put(t, version(w), body[:from]+`"signatures":[],`+body[to:])
		}},
		{"the signature of version 1", "is not signed", func(t *testing.T, w *world) {
			old := signature(w.body(t, key.PolicyVersion(w.tenant, 1)))
			body := w.body(t, version(w))
			w.put(t, version(w), strings.Replace(body, signature(body), old, 1))
		}},
		{"the signer is no signer any more", "no signer of the tenant", func(t *testing.T, w *world) { w.chain.list(w.tenant, w.ann, false) }},
		{"the head is set back", "set back", func(t *testing.T, w *world) { w.put(t, key.PolicyHead(w.tenant), stored(t, 1, law(1, "100.00"))) }},
		{"the head says another version of the same hash", "not there", func(t *testing.T, w *world) { w.put(t, key.PolicyHead(w.tenant), stored(t, 3, law(2, "200.00"))) }},
		{"the head says 1 and the hash of 2", "set back", func(t *testing.T, w *world) { w.put(t, key.PolicyHead(w.tenant), stored(t, 1, law(2, "200.00"))) }},
		{"the head cannot be read", "cannot be read", func(t *testing.T, w *world) { w.put(t, key.PolicyHead(w.tenant), `{"version":`) }},
		{"the head is empty", "cannot be read", func(t *testing.T, w *world) { w.put(t, key.PolicyHead(w.tenant), "") }},
		{"the head says nothing", "set back", func(t *testing.T, w *world) { w.put(t, key.PolicyHead(w.tenant), `{}`) }},
		{"the head is gone", "gone", func(t *testing.T, w *world) { w.remove(t, key.PolicyHead(w.tenant)) }},
		{"the mark is gone", "cannot be read", func(t *testing.T, w *world) { w.remove(t, key.PolicyMark(w.tenant)) }},
		{"the mark cannot be read", "cannot be read", func(t *testing.T, w *world) { w.put(t, key.PolicyMark(w.tenant), "x") }},
		{"the version is gone", "not there", func(t *testing.T, w *world) { w.remove(t, version(w)) }},
		{"the version cannot be read", "cannot be read", func(t *testing.T, w *world) { w.put(t, version(w), `{"document":`) }},
		{"the version has no document", "hash differs", func(t *testing.T, w *world) { w.put(t, version(w), `{}`) }},
		{"head and mark are gone", "no policy", func(t *testing.T, w *world) {
			w.remove(t, key.PolicyHead(w.tenant))
			w.remove(t, key.PolicyMark(w.tenant))
		}},
		{"another tenant's policy", "is not signed", func(t *testing.T, w *world) {
			other := newWorld(t)
			other.activate(t, 1, other.ann)
			other.activate(t, 2, other.ann)
			for _, of := range []struct{ to, from key.Key }{
				{key.PolicyHead(w.tenant), key.PolicyHead(other.tenant)}, {version(w), key.PolicyVersion(other.tenant, 2)},
			} {
				w.put(t, of.to, w.body(t, of.from))
			}
		}},
		{"two signers are wanted", "1 of the 2", func(t *testing.T, w *world) { w.quorum(t, 2) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.activate(t, 1, w.ann)
			w.activate(t, 2, w.ann)
			w.inForce(t, 2)
			c.do(t, w)
			w.denied(t, w.another(), c.reason)
		})
	}
}

// signature is the first signature in a stored version.
func signature(body string) string {
	at := strings.Index(body, `"0x`)
	return body[at : at+134]
}

// TestNothingYet: a tenant without a policy has everything denied.
func TestNothingYet(t *testing.T) {
	w := newWorld(t)
	w.denied(t, w.register, "no policy")
}

// A process that has seen a version takes no older one, even where head, mark and
// version were all put back together.
func TestRolledBackWhole(t *testing.T) {
	w := newWorld(t)
	w.activate(t, 1, w.ann)
	head, mark := w.body(t, key.PolicyHead(w.tenant)), w.body(t, key.PolicyMark(w.tenant))
	w.inForce(t, 1)
	w.activate(t, 2, w.ann)
	w.inForce(t, 2)
	w.put(t, key.PolicyHead(w.tenant), head)
	w.put(t, key.PolicyMark(w.tenant), mark)
	w.denied(t, w.register, "set back")
	w.remove(t, key.PolicyHead(w.tenant))
	w.remove(t, key.PolicyMark(w.tenant))
	w.denied(t, w.register, "gone")
}

// The tenants of one process do not know each other's versions.
func TestTenantsApart(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	w.activate(t, 5, w.ann)
	other.activate(t, 1, other.ann)
	other.register = w.register
	w.register.Chain = other.chain
	other.inForce(t, 1)
	if active, err := w.load(t, w.another()); err != nil || active.Version != 5 {
		t.Errorf("version %d, %v", active.Version, err)
	}
}

// TestWhatOthersSayInTheHead: a head that nobody signed is denied, and is forgotten
// with it: the true one is in force again when it is back.
func TestWhatOthersSayInTheHead(t *testing.T) {
	w := newWorld(t)
	w.activate(t, 1, w.ann)
	head := w.body(t, key.PolicyHead(w.tenant))
	w.put(t, key.PolicyHead(w.tenant), stored(t, 999, law(999, "900.00")))
	w.denied(t, w.register, "not there")
	w.put(t, key.PolicyHead(w.tenant), head)
	w.inForce(t, 1)
}

// TestChecked: a version that held is not read nor asked about again; one that
// did not is.
func TestChecked(t *testing.T) {
	w := newWorld(t)
	w.activate(t, 1, w.ann)
	w.inForce(t, 1)
	gets, asked := w.store.gets.Load(), w.chain.asked
	for range 3 {
		active, err := w.load(t, w.register)
		noError(t, err)
		equal(t, "version", active.Version, 1)
	}
	equal(t, "reads of what is known", w.store.gets.Load(), gets)
	equal(t, "questions about what is known", w.chain.asked, asked)
	r := w.another()
	w.chain.list(w.tenant, w.ann, false)
	w.denied(t, r, "no signer")
	w.chain.list(w.tenant, w.ann, true)
	active, err := w.load(t, r)
	noError(t, err)
	equal(t, "once it holds", active.Version, 1)
	equal(t, "who signed", strings.Join(active.Signers, " "), w.ann.Address().String())
	equal(t, "hash", len(active.Hash), 64)
}

// TestChainAway: that nobody can be asked decides nothing, neither yes nor no.
func TestChainAway(t *testing.T) {
	w := newWorld(t)
	w.activate(t, 1, w.ann)
	w.chain.err = fault.New(fault.OnchainUnavailable, "The chain cannot be reached.")
	r := w.another()
	_, err := w.load(t, r)
	fails(t, "load", err, fault.OnchainUnavailable)
	commits := w.store.commits.Load()
	raw := law(2, "200.00")
	_, err = w.register.Activate(t.Context(), w.tenant, actor, "req", raw, w.sign(t, 2, raw, w.ann))
	fails(t, "activate", err, fault.OnchainUnavailable)
	equal(t, "changes", w.store.commits.Load(), commits)
	w.chain.err = nil
	active, err := w.load(t, r)
	noError(t, err)
	equal(t, "version, when it is back", active.Version, 1)
}
