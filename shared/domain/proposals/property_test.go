package proposals_test

import (
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/key"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/policy"
	"github.com/robotmoney/mcp/shared/domain/proposals"
	"github.com/robotmoney/mcp/shared/domain/record"
)

// The caps of the property, in cents.
const (
	agentDay      = 2500_00
	payeeWeek     = 6000_00
	tenantDay     = 5000_00
	agentHour     = 8 // proposals
	stepsVariable = "PROPOSALS_STEPS"
	seedVariable  = "PROPOSALS_SEED"
)

// capped is a policy of four caps on everything that is promised. Up to 100 it
// passes, above one person confirms, above 300 two.
func capped() policy.Document {
	over := func(id string, window policy.Window, per policy.Per, amount string) policy.Rule {
		return policy.Rule{ID: id, AppliesTo: outbound, Execute: policy.Reject, When: policy.When{
			SpendInWindow: &policy.SpendCap{Window: window, Per: per, GT: sum(amount, "USD")},
		}}
	}
	return lawOf(
		policy.Rule{ID: "small", AppliesTo: outbound, Execute: policy.Auto, When: policy.When{AmountLTE: sum("100.00", "USD")}},
		policy.Rule{ID: "large", AppliesTo: outbound, Execute: policy.Confirm, Require: []string{"approver"}, When: policy.When{AmountGT: sum("100.00", "USD")}},
		policy.Rule{ID: "largest", AppliesTo: outbound, Execute: policy.Confirm, Require: []string{"approver", "approver"}, When: policy.When{AmountGT: sum("300.00", "USD")}},
		over("agent", policy.Day, policy.PerAgent, "2500.00"),
		over("payee", policy.Week, policy.PerCounterparty, "6000.00"),
		over("tenant", policy.Day, policy.PerTenant, "5000.00"),
		policy.Rule{ID: "often", AppliesTo: outbound, Execute: policy.Reject, When: policy.When{
			CountInWindow: &policy.CountCap{Window: policy.Hour, Per: policy.PerAgent, GT: ptr(int64(agentHour))},
		}},
	)
}

// TestCapsHold: whatever agents and people do at once, whatever is lost, refused
// and sent again, nothing that is promised exceeds a cap at any moment, and at
// the end every counter is what the cases say.
//
// PROPOSALS_STEPS makes each of the six actors take so many steps, for a long
// run; PROPOSALS_SEED repeats the draws of an earlier one.
func TestCapsHold(t *testing.T) {
	seed, steps := uint64(time.Now().UnixNano()), 100
	if text := os.Getenv(seedVariable); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		noError(t, err)
		seed = n
	}
	if text := os.Getenv(stepsVariable); text != "" {
		n, err := strconv.Atoi(text)
		noError(t, err)
		steps = n
	}
	t.Logf("%s=%d %s=%d", seedVariable, seed, stepsVariable, steps)
	draws := rand.New(rand.NewPCG(seed, 0))
	sky := &weather{}
	w := newWorld(t, capped(), sky.through)
	watch := &watch{t: t, world: w, sky: sky, cases: map[string]proposals.Case{}}
	sky.mu.Lock()
	sky.fates, sky.reads, sky.seen = storm(draws), drizzle(draws), watch.transaction
	sky.mu.Unlock()
	var all sync.WaitGroup
	for i := range 6 {
		a := &actor{t: t, world: w, watch: watch, who: w.agent("agt_" + strconv.Itoa(i%3)), n: i, random: rand.New(rand.NewPCG(seed, uint64(i+1)))}
		all.Go(func() {
			for range steps {
				a.step()
			}
		})
	}
	all.Wait()
	sky.mu.Lock()
	sky.fates, sky.reads = nil, nil
	sky.mu.Unlock()
	w.reconcile(t)
	watch.agrees(t)
	w.eventsAgree(t)
	t.Logf("%d transactions, %d cases: %v; most promised: agent %d, payee %d, tenant %d of a cap", sky.made.Load(), len(watch.cases), watch.tally(), watch.most[0], watch.most[1], watch.most[2])
}

// watch keeps the cases as the engine has them, out of the transactions it made,
// and adds up what they promise after each.
type watch struct {
	t     *testing.T
	world *world
	sky   *weather
	cases map[string]proposals.Case
	most  [3]int64 // percent of a cap that was ever promised
}

// pick is one of the cases that stand so, empty when there is none. Actors who
// pick at once often pick the same.
func (w *watch) pick(random *rand.Rand, fits func(proposals.Case) bool) (picked proposals.Case) {
	w.sky.mu.Lock()
	defer w.sky.mu.Unlock()
	var names []string
	for name, c := range w.cases {
		if fits(c) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return proposals.Case{}
	}
	slices.Sort(names)
	return w.cases[names[random.IntN(len(names))]]
}

// transaction takes in what one transaction has put.
func (w *watch) transaction(body []byte) {
	var sent struct {
		TransactItems []struct {
			Put struct{ Item map[string]struct{ S string } }
		}
	}
	if err := json.Unmarshal(body, &sent); err != nil {
		w.t.Error(err)
	}
	moved := false
	for _, item := range sent.TransactItems {
		pk, sk := item.Put.Item["pk"].S, item.Put.Item["sk"].S
		isCase := strings.Contains(pk, "#pi#") || strings.Contains(pk, "#authz#")
		if !isCase || sk != key.Row || !strings.HasPrefix(pk, "tenant#"+w.world.tenant.String()+"#") {
			continue
		}
		c, err := proposals.Decode(record.Item{Key: key.Key{PK: pk, SK: sk}, Body: []byte(item.Put.Item["body"].S)})
		if err != nil {
			w.t.Error(err)
		}
		w.follows(c)
		w.cases[c.ID], moved = c, true
	}
	if moved {
		w.sums()
	}
}

// follows wants a state that may follow the one before.
func (w *watch) follows(c proposals.Case) {
	before, known := w.cases[c.ID]
	kind, _ := proposals.KindOf(c.ID)
	if known && before.Status != c.Status && !slices.Contains(lives[kind][before.Status], c.Status) {
		w.t.Errorf("%s became %s after %s", c.ID, c.Status, before.Status)
	}
}

// sums adds up what is promised at this moment and holds it against the caps.
func (w *watch) sums() {
	now := w.world.clock.now()
	sums := map[string]int64{}
	for _, c := range w.cases {
		if !slices.Contains(promising, c.Status) {
			continue
		}
		at, err := time.Parse(time.RFC3339, c.Standing.Promise.At)
		if err != nil {
			w.t.Errorf("%s is %s: %v", c.ID, c.Status, err)
		}
		age, n := now.Sub(at), cents(c.Amount)
		if age < 24*time.Hour {
			sums["agent "+c.AgentID] += n
			sums["tenant"] += n
		}
		if age < 7*24*time.Hour {
			sums["payee "+c.DestinationCounterpartyID] += n
		}
		if age < time.Hour {
			sums["often "+c.AgentID]++
		}
	}
	for who, n := range sums {
		kind, _, _ := strings.Cut(who, " ")
		most := map[string]int64{"agent": agentDay, "payee": payeeWeek, "tenant": tenantDay, "often": agentHour}[kind]
		if n > most {
			w.t.Errorf("%s has promised %d, the cap is %d", who, n, most)
		}
		if at := slices.Index([]string{"agent", "payee", "tenant"}, kind); at >= 0 {
			w.most[at] = max(w.most[at], 100*n/most)
		}
	}
}

func cents(amount string) int64 {
	a, err := money.ParseAmount(amount, money.MustParse("USD"))
	if err != nil {
		return -1
	}
	n, _ := new(big.Int).SetString(a.Minor(), 10)
	return n.Int64()
}

// agrees wants the table to hold what was seen on the way to it.
func (w *watch) agrees(t *testing.T) {
	t.Helper()
	cases := w.world.cases(t)
	equal(t, "cases in the table", len(cases), len(w.cases))
	for _, c := range cases {
		equal(t, c.ID, c.Status, w.cases[c.ID].Status)
	}
}

func (w *watch) tally() map[proposals.Status]int {
	n := map[proposals.Status]int{}
	for _, c := range w.cases {
		n[c.Status]++
	}
	return n
}

// eventsAgree wants one birth of each case among its events, and that its events
// lead to where it stands.
func (w *world) eventsAgree(t *testing.T) {
	t.Helper()
	told := w.everything(t)
	for _, c := range w.cases(t) {
		births, last := 0, proposals.Status("")
		for _, event := range told[c.ID] {
			if event.Action == "payment_intent.proposed" || event.Action == "authorization.created" || event.Action == "proposal.proposed" {
				births++
			}
			last = proposals.Status(event.AfterState["status"].(string))
		}
		if births != 1 || last != c.Status {
			t.Errorf("%s is %s; its events have %d births and end in %q", c.ID, c.Status, births, last)
		}
	}
}
