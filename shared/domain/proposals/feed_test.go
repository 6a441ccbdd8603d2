package proposals_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/listing"
	"github.com/robotmoney/mcp/shared/domain/payments"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/tenant"
)

// roomy is a budget no page here uses up.
const roomy = 1 << 20

// walk reads the feed page by page, and fails when it does not end.
func (w *world) walk(t *testing.T, f proposals.Filter, limit, budget int) (all []proposals.Entry) {
	t.Helper()
	after := ""
	for range 200 {
		page, err := w.desk.Feed(t.Context(), w.tenant, f, listing.Window{After: after, Limit: limit, Budget: budget})
		noError(t, err)
		if len(page.Rows) > limit {
			t.Fatalf("%d rows in a page of %d", len(page.Rows), limit)
		}
		for _, row := range page.Rows {
			var e proposals.Entry
			noError(t, json.Unmarshal(row, &e))
			all = append(all, e)
		}
		if after = page.Next; after == "" {
			return all
		}
	}
	t.Fatal("the feed does not end")
	return nil
}

func ids(entries []proposals.Entry) string {
	var names []string
	for _, e := range entries {
		names = append(names, e.ID)
	}
	return strings.Join(names, " ")
}

// TestFeed: payments and actions in one list, the newest first, in pages that
// hold whatever comes in between, and no authorization among them.
func TestFeed(t *testing.T) {
	w := newWorld(t, usual())
	var made []string
	for i := range 12 {
		w.clock.pass(time.Minute)
		if i%3 == 2 {
			d := deed("propose_match")
			d.IdempotencyKey = seq(i)
			made = append(made, w.act(t, d).ID)
		} else {
			made = append(made, w.propose(t, proposal("1.00", keyed(seq(i)))).ID)
		}
		w.authorize(t, request("1.00", func(q *proposals.Request) { q.IdempotencyKey = seq(i) }))
	}
	slices.Reverse(made)
	want := strings.Join(made, " ")
	for _, limit := range []int{1, 2, 5, 12, 13, 100} {
		equal(t, fmt.Sprintf("pages of %d", limit), ids(w.walk(t, proposals.Filter{}, limit, roomy)), want)
	}
	equal(t, "pages of few bytes", ids(w.walk(t, proposals.Filter{}, 100, 1500)), want)

	page, err := w.desk.Feed(t.Context(), w.tenant, proposals.Filter{}, listing.Window{Limit: 4, Budget: roomy})
	noError(t, err)
	w.clock.pass(time.Minute)
	w.propose(t, proposal("9.00")) // newer than all: it moves nothing behind the cursor
	page, err = w.desk.Feed(t.Context(), w.tenant, proposals.Filter{}, listing.Window{After: page.Next, Limit: 4, Budget: roomy})
	noError(t, err)
	var first proposals.Entry
	noError(t, json.Unmarshal(page.Rows[0], &first))
	equal(t, "the next page begins with", first.ID, made[4])
	equal(t, "another tenant's feed", len(newWorld(t, usual()).walk(t, proposals.Filter{}, 10, roomy)), 0)
}

// TestFilters: each alone and together; pages of what passes, in the same order.
func TestFilters(t *testing.T) {
	w := newWorld(t, usual())
	sure := func(kind string, confidence float64) string {
		w.clock.pass(time.Second)
		d := deed(kind)
		d.Confidence = &confidence
		return w.act(t, d).ID
	}
	match, flag, follow := sure("propose_match", 0.9), sure("flag_transaction", 0.5), sure("draft_followup", 0.2)
	w.clock.pass(time.Second)
	silent := w.act(t, proposals.Deed{Kind: "propose_match", Fields: json.RawMessage(`{"kind":"propose_match"}`)}).ID
	w.clock.pass(time.Second)
	small := w.propose(t, proposal("1.00")).ID
	w.clock.pass(time.Second)
	large := w.propose(t, proposal("5000.00")).ID
	w.clock.pass(time.Second)
	refused := w.propose(t, proposal("1.00", to("cp_new"))).ID
	half := 0.5
	for name, c := range map[string]struct {
		filter proposals.Filter
		want   []string
	}{
		"all":                      {proposals.Filter{}, []string{refused, large, small, silent, follow, flag, match}},
		"payments":                 {proposals.Filter{Type: "payment"}, []string{refused, large, small}},
		"matches":                  {proposals.Filter{Type: "reconciliation"}, []string{silent, match}},
		"a type nobody proposed":   {proposals.Filter{Type: "savings"}, nil},
		"what waits":               {proposals.Filter{Status: "pending_approval"}, []string{large, silent, follow, match}},
		"what was rejected":        {proposals.Filter{Status: "rejected"}, []string{refused}},
		"low":                      {proposals.Filter{RiskBand: "low"}, []string{small, flag}},
		"standard":                 {proposals.Filter{RiskBand: "standard"}, []string{large, silent, follow, match}},
		"elevated":                 {proposals.Filter{RiskBand: "elevated"}, []string{refused}},
		"high":                     {proposals.Filter{RiskBand: "high"}, nil},
		"half sure":                {proposals.Filter{MinConfidence: &half}, []string{flag, match}},
		"half sure and waiting":    {proposals.Filter{MinConfidence: &half, Status: "pending_approval"}, []string{match}},
		"zero leaves out payments": {proposals.Filter{MinConfidence: ptr(0.0)}, []string{follow, flag, match}},
		"a payment and sure":       {proposals.Filter{MinConfidence: &half, Type: "payment"}, nil},
	} {
		for _, limit := range []int{1, 3, 100} {
			equal(t, fmt.Sprintf("%s, pages of %d", name, limit), ids(w.walk(t, c.filter, limit, roomy)), strings.Join(c.want, " "))
		}
	}
}

// TestOwnIntents: an agent's list has its own intents and nothing else.
func TestOwnIntents(t *testing.T) {
	w := newWorld(t, usual())
	var own []string
	for i := range 5 {
		w.clock.pass(time.Second)
		own = append(own, w.propose(t, proposal(map[bool]string{true: "1.00", false: "5000.00"}[i%2 == 0], keyed(seq(i)))).ID)
		_, err := w.desk.Propose(t.Context(), w.agent("agt_2"), "req", proposal("1.00", keyed(seq(i))))
		noError(t, err)
	}
	slices.Reverse(own)
	for status, want := range map[proposals.Status][]string{"": own, proposals.Approved: {own[0], own[2], own[4]}, proposals.Pending: {own[1], own[3]}, proposals.Failed: nil} {
		var got []string
		after := ""
		for range 10 {
			page, err := w.desk.List(t.Context(), w.agent("agt_1"), status, listing.Window{After: after, Limit: 2, Budget: roomy})
			noError(t, err)
			for _, row := range page.Rows {
				var i proposals.Intent
				noError(t, json.Unmarshal(row, &i))
				got = append(got, i.ID)
			}
			if after = page.Next; after == "" {
				break
			}
		}
		equal(t, "own "+string(status), strings.Join(got, " "), strings.Join(want, " "))
	}
}

// TestRiskBands: each band and its borders; the worst that applies is said.
func TestRiskBands(t *testing.T) {
	changed := func(ago time.Duration) func(*ledger.Counterparty) {
		return func(c *ledger.Counterparty) {
			c.DetailsChangedAt = ptr(noon.Add(-ago).Format("2006-01-02T15:04:05.000Z"))
		}
	}
	risk := func(level string) func(*ledger.Counterparty) {
		return func(c *ledger.Counterparty) { c.RiskLevel = level }
	}
	unverified := func(c *ledger.Counterparty) { c.VerifiedStatus = "unverified" }
	for _, c := range []struct {
		name   string
		amount string
		party  []func(*ledger.Counterparty)
		paid   []ledger.Row
		law    policy.Document
		want   string
	}{
		{name: "passes by a rule", amount: "300.00", want: "low"},
		{name: "waits", amount: "300.00", law: confirming(), want: "standard"},
		{name: "a cent over three times the largest", amount: "300.01", want: "elevated"},
		{name: "unverified", amount: "1.00", party: []func(*ledger.Counterparty){unverified}, want: "elevated"},
		{name: "self-attested", amount: "1.00", party: []func(*ledger.Counterparty){func(c *ledger.Counterparty) { c.VerifiedStatus = "self_attested" }}, want: "low"},
		{name: "high risk", amount: "1.00", party: []func(*ledger.Counterparty){risk("high")}, want: "high"},
		{name: "sanctioned", amount: "1.00", party: []func(*ledger.Counterparty){risk("sanctioned")}, want: "high"},
		{name: "medium risk", amount: "1.00", party: []func(*ledger.Counterparty){risk("medium")}, want: "low"},
		{name: "changed just now", amount: "1.00", party: []func(*ledger.Counterparty){changed(0)}, want: "high"},
		{name: "changed less than a day ago", amount: "1.00", party: []func(*ledger.Counterparty){changed(24*time.Hour - time.Second)}, want: "high"},
		{name: "changed a day ago", amount: "1.00", party: []func(*ledger.Counterparty){changed(24 * time.Hour)}, want: "low"},
		{name: "changes in the future", amount: "1.00", party: []func(*ledger.Counterparty){changed(-time.Hour)}, want: "high"},
		{name: "high before elevated", amount: "900.00", party: []func(*ledger.Counterparty){unverified, risk("high")}, want: "high"},
		{name: "a larger payment of last year does not count", amount: "300.01", paid: []ledger.Row{paid("tx_old", "cp_x", "900.00", "2024-09-29")}, want: "elevated"},
		{name: "one of a year ago to the day does", amount: "300.01", paid: []ledger.Row{paid("tx_old", "cp_x", "900.00", "2024-09-30")}, want: "low"},
		{name: "one to somebody else does not", amount: "300.01", paid: []ledger.Row{paid("tx_old", "cp_aws", "900.00", "2025-09-01")}, want: "elevated"},
		{name: "what came in does not", amount: "300.01", paid: []ledger.Row{inflow("tx_in", "cp_x", "900.00")}, want: "elevated"},
		{name: "what failed does not", amount: "300.01", paid: []ledger.Row{failed("tx_failed", "cp_x", "900.00")}, want: "elevated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			law := c.law
			if law.Rules == nil {
				law = lawOf(policy.Rule{ID: "small", AppliesTo: anything, Execute: policy.Auto, When: policy.When{AmountLTE: sum("1000.00", "USD")}})
			}
			w := newWorld(t, law)
			w.write(t, append([]ledger.Row{party("cp_x", c.party...), paid("tx_x", "cp_x", "100.00", "2025-09-01")}, c.paid...)...)
			a := w.propose(t, proposal(c.amount, to("cp_x")))
			e, err := w.desk.Entry(t.Context(), w.tenant, a.ID)
			noError(t, err)
			equal(t, "risk band", e.RiskBand, c.want)
		})
	}
}

func inflow(name, from, amount string) *ledger.Transaction {
	x := paid(name, from, amount, "2025-09-01")
	x.Direction = "inflow"
	return x
}

func failed(name, to, amount string) *ledger.Transaction {
	x := paid(name, to, amount, "2025-09-01")
	x.Status = "failed"
	return x
}

// TestTypes: the type of each kind, by the whole table, and where there is none.
func TestTypes(t *testing.T) {
	for kind, want := range map[string]string{
		"flag_transaction": "fraud_anomaly", "freeze_card": "fraud_anomaly", "block_payment": "vendor_risk", "flag_vendor_risk": "vendor_risk",
		"propose_match": "reconciliation", "flag_discrepancy": "reconciliation", "categorize_transaction": "reconciliation",
		"draft_followup": "collections", "generate_forecast": "cash_forecast", "alert_shortfall": "cash_forecast",
		"recommend_cash_sweep": "treasury", "alert_low_balance": "treasury", "flag_duplicate_invoice": "invoice_integrity",
	} {
		equal(t, kind, proposals.TypeOf(kind, "savings"), want)
	}
	types := []string{
		"vendor_risk", "payment", "collections", "treasury", "cash_forecast", "dispute", "compliance", "revenue_intel", "reconciliation",
		"subscription", "fraud_anomaly", "personal_budget", "financial_health", "purchase_advisor", "tax_prep", "travel_finance",
		"bill_management", "debt_optimization", "savings", "invoice_integrity",
	}
	equal(t, "types", strings.Join(proposals.Types, " "), strings.Join(types, " "))
	for _, name := range types {
		equal(t, "the kind "+name, proposals.TypeOf(name, "savings"), name)
		equal(t, "the role "+name, proposals.TypeOf("something", name), name)
	}
	equal(t, "neither", proposals.TypeOf("something", "bookkeeper"), "reconciliation")
	equal(t, "nothing", proposals.TypeOf("", ""), "reconciliation")
}

// TestEntry: what somebody sees who decides.
func TestEntry(t *testing.T) {
	w := newWorld(t, usual())
	d := deed("flag_transaction")
	d.Confidence = ptr(0.75)
	for _, ref := range [][2]string{
		{"transaction", "tx_1"}, {"transaction", "tx_none"}, {"transaction", "acct_1"}, {"wiki_page", "/counterparties/cp_aws"}, {"wiki_page", "../x"},
		{"account", "acct_usd"}, {"screenshot", "x"}, {"", ""},
	} {
		d.Evidence = append(d.Evidence, proposals.Reference{Kind: ref[0], Ref: ref[1]})
	}
	a := w.act(t, d)
	e, err := a.Entry()
	noError(t, err)
	got := ""
	for _, ref := range e.Evidence {
		got += map[bool]string{true: "+", false: "-"}[ref.Resolvable]
	}
	equal(t, "resolvable", got, "++-+-+--")
	equal(t, "narrative", e.Narrative, "because of flag_transaction")
	equal(t, "type", e.Type+" "+e.ActionType, "fraud_anomaly flag_transaction")
	equal(t, "confidence", *e.Confidence, 0.75)
	equal(t, "no intent", e.PaymentIntentID == nil, true)
	read, err := w.desk.Entry(t.Context(), w.tenant, a.ID)
	noError(t, err)
	one, _ := json.Marshal(e)
	two, _ := json.Marshal(read)
	equal(t, "as it is read", string(two), string(one))

	p := w.propose(t, proposal("100.00", func(p *proposals.Proposal) {
		p.ObligationID, p.InvoiceID, p.EvidenceIDs, p.Memo = ptr("obl_open"), ptr("inv_open"), []string{"tx_1", "cp_gcp"}, ptr("for September")
	}))
	e, err = w.desk.Entry(t.Context(), w.tenant, p.ID)
	noError(t, err)
	equal(t, "payment's evidence", fmt.Sprint(e.Evidence), "[{invoice inv_open true} {obligation obl_open true} {transaction tx_1 true} {counterparty cp_gcp true}]")
	equal(t, "payment's narrative", e.Narrative, "Pay 100.00 USD to cp_aws (cp_aws) by ach_outbound, account acct_usd. for September")
	equal(t, "payment", fmt.Sprint(e.Type, *e.PaymentIntentID, e.ActionType, e.Agent), fmt.Sprint("payment", p.ID, "ach_outbound", proposals.EntryAgent{ID: "agt_1", Role: "treasury"}))
	equal(t, "policy", fmt.Sprintf("%s %d %v %v", e.Policy.Decision, e.Policy.Version, e.Policy.Matched, e.Policy.Approvers), "auto 1 [small] []")
	equal(t, "hash", e.Hash, p.Hash)
	in := w.propose(t, proposal("100.00", of(payments.ACHInbound, "acct_usd", "USD")))
	e, err = w.desk.Entry(t.Context(), w.tenant, in.ID)
	noError(t, err)
	equal(t, "collecting", e.Narrative, "Collect 100.00 USD from cp_aws (cp_aws) by ach_inbound, account acct_usd.")
}

// TestAvailable: what can be decided in each state is said, and only that can.
func TestAvailable(t *testing.T) {
	pay := map[proposals.Status]string{
		proposals.Pending: "approve reject", proposals.AwaitingSecond: "approve reject", proposals.Approved: "reject",
	}
	act := map[proposals.Status]string{
		proposals.Pending: "approve reject acknowledge", proposals.AwaitingSecond: "approve reject acknowledge",
		proposals.Approved: "undo", proposals.Acknowledged: "undo",
	}
	w := newWorld(t, confirming("approver"))
	for name, want := range map[string]map[proposals.Status]string{w.fresh(t, "pi"): pay, w.fresh(t, "prop"): act} {
		kind, _ := proposals.KindOf(name)
		old, _, err := w.direct.Get(t.Context(), key.Ledger(w.tenant, kind, name))
		noError(t, err)
		for _, status := range proposals.FeedStatuses[1:] { // no case is stored as proposed
			w.staged(t, old, status, false)
			e, err := w.desk.Entry(t.Context(), w.tenant, name)
			noError(t, err)
			equal(t, string(kind)+" "+string(status), strings.Join(e.Available, " "), want[status])
			for _, choice := range proposals.Choices {
				w.staged(t, old, status, false)
				_, err := w.decide(t, w.member("mbr_ann"), proposals.Choice{Name: name, Decision: choice})
				code := fault.Conflict
				if slices.Contains(e.Available, choice) {
					code = ""
				}
				fails(t, err, code)
			}
		}
	}
}

// TestUndo: an action that was approved or set aside waits again, for its own
// time, and is counted as waiting once.
func TestUndo(t *testing.T) {
	for _, first := range []string{proposals.Approve, proposals.Acknowledge} {
		t.Run(first, func(t *testing.T) {
			w := newWorld(t, confirming("approver"))
			w.settle(t, tenant.Settings{PendingDays: 2})
			a := w.act(t, deed("propose_match"))
			for range 3 {
				w.must(t, w.member("mbr_ann"), a.ID, first)
				w.reconcile(t)
				if d := w.must(t, w.member("mbr_ann"), a.ID, first); !d.Replayed {
					t.Errorf("%s a second time is new", first)
				}
				w.clock.pass(24 * time.Hour)
				d := w.must(t, w.member("mbr_bob"), a.ID, proposals.Undo)
				equal(t, "status", d.Status, wait)
				equal(t, "approvals", len(d.Approvals), 0)
				equal(t, "expires", *d.ExpiresAt, w.clock.now().AddDate(0, 0, 2).Format("2006-01-02T15:04:05.000Z"))
				w.reconcile(t)
			}
			_, err := w.decide(t, w.member("mbr_bob"), proposals.Choice{Name: a.ID, Decision: proposals.Undo})
			fails(t, err, fault.Conflict)
			w.clock.pass(48 * time.Hour)
			_, err = w.desk.Expire(t.Context())
			noError(t, err)
			equal(t, "in the end", w.status(t, a.ID), proposals.Expired)
			w.reconcile(t)
		})
	}
}
