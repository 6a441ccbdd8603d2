package proposals_test

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// The states as this test understands them, apart from the code's own lists.
var (
	waiting   = []proposals.Status{proposals.Proposed, proposals.Pending, proposals.AwaitingSecond}
	promising = append(slices.Clone(waiting), proposals.Approved, proposals.Paused, proposals.Dispatching, proposals.Executed, proposals.Authorized, proposals.Acknowledged)
	expiring  = append(slices.Clone(waiting), proposals.Authorized)
)

// buckets are the rows of time buckets: the letter of their names, how long one
// is and how long the window.
var buckets = []struct {
	letter        string
	width, window int64 // seconds
}{{"h", 300, 3600}, {"d", 3600, 24 * 3600}, {"w", 6 * 3600, 7 * 24 * 3600}, {"m", 24 * 3600, 30 * 24 * 3600}}

var classes = map[policy.Class]string{
	policy.OutboundPayment: "out", policy.InboundPayment: "in", policy.OnchainTx: "chain", policy.LedgerWrite: "erp", policy.AgentAction: "act",
}

// query reads a whole partition.
func (w *world) query(t testing.TB, q record.Query) []record.Item {
	t.Helper()
	var items []record.Item
	for {
		page, err := w.direct.Query(t.Context(), q)
		noError(t, err)
		items = append(items, page.Items...)
		if page.Next == nil {
			return items
		}
		q.After = page.Next
	}
}

// cases are all cases of the tenant as the table holds them.
func (w *world) cases(t testing.TB) []proposals.Case {
	t.Helper()
	var cases []proposals.Case
	for _, kind := range []id.Prefix{id.PaymentIntent, id.Authorization, id.Proposal} {
		for _, item := range w.query(t, record.Query{Index: 1, PK: key.LedgerList(w.tenant, kind, "", "").PK}) {
			stored, found, err := w.direct.Get(t.Context(), item.Key)
			if noError(t, err); !found {
				t.Fatalf("%s is in the list and not in the table", item.Key.PK)
			}
			c, err := proposals.Decode(stored)
			noError(t, err)
			cases = append(cases, c)
		}
	}
	return cases
}

// counters is what the items of promises should hold: item, counter, number.
type counters map[key.Key]map[string]*big.Int

func (c counters) add(k key.Key, name string, n *big.Int) {
	if c[k] == nil {
		c[k] = map[string]*big.Int{}
	}
	if c[k][name] == nil {
		c[k][name] = new(big.Int)
	}
	c[k][name].Add(c[k][name], n)
}

// keys are the items a case is counted in.
func (w *world) keys(c proposals.Case) []key.Key {
	keys := []key.Key{key.Promises(w.tenant, "agent", c.AgentID), key.Promises(w.tenant, "tenant", "")}
	if c.Payment != nil {
		keys = append(keys, key.Promises(w.tenant, "counterparty", c.DestinationCounterpartyID))
	}
	return keys
}

// count adds what one case promises, or promised once.
func (w *world) count(t testing.TB, want counters, c proposals.Case) {
	t.Helper()
	class, n, currency := classes[policy.AgentAction], new(big.Int), ""
	if c.Payment != nil {
		amount, err := money.Written{Amount: c.Amount, Currency: c.Currency}.Read()
		noError(t, err)
		n.SetString(amount.Minor(), 10)
		class, currency = classes[c.ActionType.Class()], c.Currency
	}
	both := func(k key.Key, bucket string) {
		want.add(k, bucket+"."+class+".n", big.NewInt(1))
		if currency != "" {
			want.add(k, bucket+"."+class+"."+currency, n)
		}
	}
	for _, k := range w.keys(c) {
		want.add(k, "open", new(big.Int))
		if w.bornWithPromise(t, c) {
			both(k, "ever")
		}
		if !slices.Contains(promising, c.Status) {
			continue
		}
		at, err := time.Parse(time.RFC3339, c.Standing.Promise.At)
		if err != nil {
			t.Fatalf("%s is %s and holds no promise: %v", c.ID, c.Status, err)
		}
		for _, b := range buckets {
			both(k, b.letter+strconv.FormatInt(at.Unix()/b.width, 10))
		}
	}
	if slices.Contains(waiting, c.Status) {
		want.add(w.keys(c)[0], "open", big.NewInt(1))
	}
}

// bornWithPromise says whether the policy let a case in: its first decision, the
// one with the smallest id, tells.
func (w *world) bornWithPromise(t testing.TB, c proposals.Case) bool {
	t.Helper()
	kind, _ := proposals.KindOf(c.ID)
	decisions := w.query(t, record.Query{PK: key.Ledger(w.tenant, kind, c.ID).PK, Prefix: key.DecisionPrefix})
	if len(decisions) == 0 {
		t.Fatalf("%s has no decision", c.ID)
	}
	return !strings.Contains(string(decisions[0].Body), `"outcome":"reject"`)
}

// reconcile holds everything that is counted beside the cases against the cases:
// every counter that still counts, what is open and what expires.
func (w *world) reconcile(t testing.TB) {
	t.Helper()
	cases, want := w.cases(t), counters{}
	due := map[key.Key]bool{}
	for _, c := range cases {
		w.count(t, want, c)
		if !slices.Contains(promising, c.Status) && c.Standing.Promise.At != "" {
			t.Errorf("%s is %s and still holds %+v", c.ID, c.Status, c.Standing.Promise)
		}
		if slices.Contains(expiring, c.Status) != (c.ExpiresAt != nil) {
			t.Errorf("%s is %s and expires at %v", c.ID, c.Status, c.ExpiresAt)
		} else if c.ExpiresAt != nil {
			at, err := time.Parse(audit.TimeForm, *c.ExpiresAt)
			noError(t, err)
			due[key.Due(w.tenant, at, c.ID)] = true
		}
	}
	for k, numbers := range want {
		item, _, err := w.direct.Get(t.Context(), k)
		noError(t, err)
		w.compare(t, k, item.Numbers, numbers)
	}
	w.compareDue(t, due)
}

// compare looks at every counter that is there or should be. Buckets that left
// their window count for nothing: they may hold what was given back later.
func (w *world) compare(t testing.TB, k key.Key, got, want map[string]*big.Int) {
	t.Helper()
	names := map[string]bool{}
	for name := range got {
		names[name] = true
	}
	for name := range want {
		names[name] = true
	}
	for name := range names {
		if w.outside(name) {
			continue
		}
		g, n := new(big.Int), new(big.Int)
		if got[name] != nil {
			g = got[name]
		}
		if want[name] != nil {
			n = want[name]
		}
		if g.Cmp(n) != 0 {
			t.Errorf("%s: %s = %s, and the cases say %s", k.PK, name, g, n)
		}
	}
}

// outside says whether a counter is of a bucket that has left its window.
func (w *world) outside(name string) bool {
	bucket, _, _ := strings.Cut(name, ".")
	for _, b := range buckets {
		digits, ours := strings.CutPrefix(bucket, b.letter)
		if index, err := strconv.ParseInt(digits, 10, 64); ours && err == nil {
			return index < (w.clock.now().Unix()-b.window)/b.width
		}
	}
	return false
}

// compareDue wants the marks of what expires, and no other.
func (w *world) compareDue(t testing.TB, want map[key.Key]bool) {
	t.Helper()
	for shard := range key.DueShards {
		for _, item := range w.query(t, record.Query{PK: key.DuePartition(shard)}) {
			if !strings.Contains(item.Key.SK, "#"+w.tenant.String()+"#") {
				continue
			}
			if !want[item.Key] {
				t.Errorf("%s is marked and does not expire then", item.Key.SK)
			}
			delete(want, item.Key)
		}
	}
	for k := range want {
		t.Errorf("%s expires and is not marked", k.SK)
	}
}

// one is the only case of the tenant.
func (w *world) one(t testing.TB) proposals.Case {
	t.Helper()
	cases := w.cases(t)
	if len(cases) != 1 {
		t.Fatalf("%d cases, want one: %s", len(cases), names(cases))
	}
	return cases[0]
}

func names(cases []proposals.Case) string {
	var all []string
	for _, c := range cases {
		all = append(all, fmt.Sprintf("%s %s", c.ID, c.Status))
	}
	return strings.Join(all, ", ")
}
