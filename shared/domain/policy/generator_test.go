package policy_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/policy"
)

// generator makes documents and facts out of so few values that they often meet.
type generator struct {
	*rand.Rand
	// only, if it is set, says which conditions a rule of an outcome may have.
	only func(execute, condition string) bool
	// executes are the outcomes rules may have, and current that of the rule that
	// is being made.
	executes []string
	current  string
}

func newGenerator(a, b uint64) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(a, b)), executes: []string{"auto", "auto", "confirm", "reject"}}
}

func pick[T any](g *generator, values ...T) T { return values[g.IntN(len(values))] }

// some is a few of the values, at times none.
func some(g *generator, values ...string) string {
	chosen := []string{}
	for _, v := range values {
		if g.IntN(5) < 3 {
			chosen = append(chosen, fmt.Sprintf("%q", v))
		}
	}
	return "[" + strings.Join(chosen, ",") + "]"
}

var (
	parties  = []string{"cp_a", "cp_b", "cp_c", "cp_d"}
	statuses = []string{"unverified", "self_attested", "document_verified", "sanctions_cleared"}
	risks    = []string{"low", "medium", "high", "sanctioned"}
	kinds    = []string{"vendor", "wallet", "employee"}
	actions  = []string{"wire", "ach_outbound", "flag_transaction"}
	agents   = []string{"agt_1", "agt_2"}
	roles    = []string{"ap", "ar"}
	accounts = []string{"acct_1", "acct_2"}
	amounts  = []string{"0", "0.01", "99.99", "100", "100.00", "100.01", "250.5", "999999999999999999999999999999999999.99"}
	clocks   = []string{"00:00", "02:00", "02:30", "09:00", "17:00", "22:00"}
	zones    = []string{"UTC", "Europe/Berlin", "America/New_York", "Pacific/Apia", "Asia/Kolkata"}
	days     = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}
	other    = "0x" + strings.Repeat("0", 62) + "cd"
)

func (g *generator) sum() string {
	return fmt.Sprintf(`{"amount":%q,"currency":%q}`, pick(g, amounts...), pick(g, "USD", "USD", "USD", "EUR"))
}

// condition is a random value of the named condition.
func (g *generator) condition(name string) string {
	switch name {
	case "counterparty.in", "counterparty.not_in":
		return some(g, pick(g, "one", "gone"), "two", "empty")
	case "counterparty.verified_status.in":
		return some(g, statuses...)
	case "counterparty.risk_level.lte":
		return fmt.Sprintf("%q", pick(g, risks...))
	case "counterparty.type.in":
		return some(g, kinds...)
	case "amount.lte", "amount.gt":
		return g.sum()
	case "action.in", "action.not_in":
		return some(g, actions...)
	case "agent.id.in":
		return some(g, agents...)
	case "agent.role.in":
		return some(g, roles...)
	case "agent.confidence.gte":
		return pick(g, "0", "0.5", "1")
	case "agent.behavior_hash.in":
		return some(g, behavior, other)
	case "source_account.in":
		return some(g, accounts...)
	case "obligation.linked":
		return pick(g, "true", "false")
	case "time_window":
		day := some(g, days...)
		if day == "[]" {
			day = `["sat"]`
		}
		return fmt.Sprintf(`{"days":%s,"from":%q,"to":%q,"zone":%q}`, day, pick(g, clocks...), pick(g, append(clocks, "24:00")...), pick(g, zones...))
	}
	cap := fmt.Sprintf(`{"window":%q,"per":%q,`, pick(g, "1h", "24h"), pick(g, "agent", "counterparty", "tenant"))
	bounds := []string{}
	for _, bound := range []string{"lte", "gt"} {
		if g.allowed(name + "." + bound) {
			bounds = append(bounds, bound)
		}
	}
	cap += `"` + pick(g, bounds...) + `":`
	if name == "count_in_window" {
		return cap + pick(g, "0", "1", "3", "9") + "}"
	}
	return cap + g.sum() + "}"
}

func (g *generator) allowed(condition string) bool {
	return g.only == nil || g.only(g.current, condition)
}

func (g *generator) rules(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = g.rule(fmt.Sprintf("r%d", i))
	}
	return all
}

func (g *generator) rule(id string) string {
	g.current = pick(g, g.executes...)
	var when []string
	for _, b := range behaviours {
		if name := b.name; g.IntN(14) == 0 && g.allowed(name) && !strings.Contains(strings.Join(when, ","), `"`+name+`":`) {
			when = append(when, fmt.Sprintf("%q:%s", name, g.condition(name)))
		}
	}
	classes := pick(g, `["any"]`, `["outbound_payment"]`, `["outbound_payment","agent_action"]`, `["agent_action"]`)
	text := fmt.Sprintf(`{"id":%q,"applies_to":%s,"execute":%q,"when":{%s}`, id, classes, g.current, strings.Join(when, ","))
	if g.IntN(3) == 0 {
		text += `,"require":` + some(g, "approver", "admin", "approver", "signer")
	}
	if g.IntN(3) == 0 {
		text += `,"required_evidence_kinds":` + some(g, "invoice", "obligation", "contract")
	}
	return text + "}"
}

func (g *generator) document(rules ...string) string {
	return `{"version":3,"lists":{"one":["cp_a"],"two":["cp_b","cp_c"],"empty":[]},"rules":[` + strings.Join(rules, ",") + `]}`
}

// maybe is a value, or nothing one time in eight.
func maybe[T any](g *generator, value T) T {
	if g.IntN(8) == 0 {
		var none T
		return none
	}
	return value
}

func (g *generator) facts(t *testing.T) policy.Facts {
	f := policy.Facts{
		Class:  pick(g, policy.OutboundPayment, policy.OutboundPayment, policy.AgentAction),
		Action: maybe(g, pick(g, actions...)),
		Agent: policy.Agent{
			ID: maybe(g, pick(g, agents...)), Role: maybe(g, pick(g, roles...)), BehaviorHash: maybe(g, pick(g, behavior, other)),
			Confidence: maybe(g, pointer(pick(g, 0, 0.5, 0.7, 1))),
		},
		Counterparty: maybe(g, &policy.Counterparty{
			ID: maybe(g, pick(g, parties...)), Type: maybe(g, pick(g, kinds...)), RiskLevel: maybe(g, pick(g, risks...)), VerifiedStatus: maybe(g, pick(g, statuses...)),
		}),
		Amount:           maybe(g, amount(t, pick(g, amounts...), pick(g, "USD", "USD", "USD", "EUR"))),
		SourceAccount:    maybe(g, pick(g, accounts...)),
		ObligationLinked: maybe(g, pointer(pick(g, true, false))),
		At:               maybe(g, g.instant()),
	}
	if g.IntN(8) > 0 {
		f.Promised = g.promises(t)
	}
	return f
}

// instant is a minute around the two nights of 2025 in which Berlin's clocks are
// moved, or of any other week.
func (g *generator) instant() time.Time {
	base := pick(g, time.Date(2025, 3, 29, 0, 0, 0, 0, time.UTC), time.Date(2025, 10, 25, 0, 0, 0, 0, time.UTC), time.Date(2025, 7, g.IntN(28), 0, 0, 0, 0, time.UTC))
	return base.Add(time.Duration(g.IntN(48*4)) * 15 * time.Minute).Add(time.Duration(g.IntN(2)*59) * time.Second)
}

func (g *generator) promises(t *testing.T) promises {
	p := promises{}
	for _, per := range []string{"agent", "counterparty", "tenant"} {
		for _, window := range []string{"1h", "24h"} {
			for _, code := range []string{"USD", "EUR"} {
				switch g.IntN(8) {
				case 0: // not known
				case 1, 2, 3:
					p[per+" "+window+" "+code] = money.Zero(money.MustParse(code))
				default:
					p[per+" "+window+" "+code] = *amount(t, pick(g, amounts...), code)
				}
			}
			if g.IntN(8) > 0 {
				p[per+" "+window] = int64(g.IntN(4))
			}
		}
	}
	return p
}

// decode reads JSON without types.
func decode(t *testing.T, raw string) (v map[string]any) {
	t.Helper()
	noError(t, json.Unmarshal([]byte(raw), &v))
	return v
}
