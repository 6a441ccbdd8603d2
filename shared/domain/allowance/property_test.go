package allowance_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/allowance"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/policy"
)

// promise is what the naive model knows of one promise.
type promise struct {
	who  allowance.Subject
	hold allowance.Hold
	at   time.Time
	usd  int64 // in cents; -1 for no money
	back bool
}

// model is a list of promises, and sums by looking at each.
type model struct {
	shelf    shelf
	now      time.Time
	promises []*promise
	subjects []allowance.Subject
	random   *rand.Rand
}

// TestSumsEqualANaiveModel: whatever is promised and given back in whatever
// order, while time passes and old counters are forgotten, each window's sum and
// number is that of the promises that stand.
func TestSumsEqualANaiveModel(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			m := newModel(t, seed)
			for range 150 {
				m.step(t)
				m.compare(t)
				if t.Failed() {
					return
				}
			}
		})
	}
}

func newModel(t *testing.T, seed uint64) *model {
	m := &model{shelf: shelf{}, now: noon, random: rand.New(rand.NewPCG(seed, 7))}
	tenant := newTenant(t)
	for _, agent := range []string{"agt_1", "agt_2"} {
		for _, payee := range []string{"cp_1", "cp_2", ""} {
			class := policy.OutboundPayment
			if payee == "" {
				class = policy.AgentAction
			}
			m.subjects = append(m.subjects, allowance.Subject{Tenant: tenant, Agent: agent, Counterparty: payee, Class: class})
		}
	}
	return m
}

// step lets time pass, takes a promise or gives one back.
func (m *model) step(t *testing.T) {
	switch m.random.IntN(5) {
	case 0:
		steps := []time.Duration{time.Second, 4 * time.Minute, 50 * time.Minute, 7 * time.Hour, 3 * 24 * time.Hour, 12 * 24 * time.Hour}
		m.now = m.now.Add(steps[m.random.IntN(len(steps))])
	case 1, 2:
		m.take(t)
	default:
		m.giveBack(t)
	}
}

func (m *model) take(t *testing.T) {
	p := &promise{who: m.subjects[m.random.IntN(len(m.subjects))], usd: -1}
	// Some clocks are ahead of the one that reads.
	p.at = m.now.Add(time.Duration(m.random.IntN(3)) * time.Duration(m.random.IntN(400)) * time.Second).Truncate(time.Second)
	p.hold = allowance.NewHold(nil, p.at)
	if p.who.Counterparty != "" {
		p.usd = m.random.Int64N(1_000_000)
		a, err := money.FromMinor(fmt.Sprint(p.usd), money.MustParse("USD"))
		noError(t, err)
		p.hold = allowance.NewHold(&a, p.at)
	}
	m.shelf.take(t, p.who, p.hold, m.now)
	m.promises = append(m.promises, p)
}

func (m *model) giveBack(t *testing.T) {
	var standing []*promise
	for _, p := range m.promises {
		if !p.back {
			standing = append(standing, p)
		}
	}
	if len(standing) == 0 {
		return
	}
	p := standing[m.random.IntN(len(standing))]
	p.back = true
	m.shelf.release(t, p.who, p.hold, m.now)
}

// compare holds every sum against the list.
func (m *model) compare(t *testing.T) {
	t.Helper()
	for _, who := range m.subjects {
		book := allowance.Open(who, m.now, m.shelf)
		for _, window := range windows {
			for _, per := range []policy.Per{policy.PerAgent, policy.PerCounterparty, policy.PerTenant} {
				if per == policy.PerCounterparty && who.Counterparty == "" {
					continue
				}
				cents, n := m.sum(who, per, window)
				got, known := book.Spend(per, window, money.MustParse("USD"))
				count, counted := book.Count(per, window)
				if !known || !counted || got.Minor() != fmt.Sprint(cents) || count != n {
					t.Errorf("%s %s of %s: %s cents in %d (known: %t), want %d in %d", per, window, who.Agent, got.Minor(), count, known, cents, n)
				}
			}
		}
	}
}

// sum is what counts for a subject, looked at one by one.
func (m *model) sum(who allowance.Subject, per policy.Per, window policy.Window) (cents, n int64) {
	for _, p := range m.promises {
		same := per == policy.PerTenant || per == policy.PerAgent && p.who.Agent == who.Agent ||
			per == policy.PerCounterparty && p.who.Counterparty == who.Counterparty
		if p.back || !same || p.who.Class != who.Class || !counts(window, p.at, m.now) {
			continue
		}
		n++
		if p.usd > 0 {
			cents += p.usd
		}
	}
	return cents, n
}
