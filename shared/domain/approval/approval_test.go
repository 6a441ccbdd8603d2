package approval_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/approval"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/money"
)

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// code is the code of a refusal, empty for none.
func code(err error) fault.Code {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.Code
	}
	return ""
}

func amount(t *testing.T, text, currency string) *money.Amount {
	t.Helper()
	a, err := money.ParseAmount(text, money.MustParse(currency))
	if err != nil {
		t.Fatal(err)
	}
	return &a
}

func limit(text, currency string) *money.Written {
	return &money.Written{Amount: text, Currency: currency}
}

func person(changes ...func(*identity.MemberRecord)) identity.Principal {
	m := &identity.MemberRecord{
		ID: "mbr_1", Role: identity.Approver, Status: identity.Active, Domains: []identity.Domain{identity.AP}, Limits: []money.Written{*limit("1000.00", "USD")},
	}
	for _, change := range changes {
		change(m)
	}
	return identity.Principal{Kind: identity.User, ID: m.ID, Member: m}
}

func matter(t *testing.T, changes ...func(*approval.Matter)) approval.Matter {
	m := approval.Matter{Domain: identity.AP, Amount: amount(t, "100.00", "USD"), AgentCreator: "mbr_maker", Hash: "h", PolicyVersion: 1}
	for _, change := range changes {
		change(&m)
	}
	return m
}

// wrongs are what can stand against a decision, in the order in which it is said.
// The names are the codes.
var wrongs = []struct {
	code fault.Code
	do   func(*identity.Principal, *approval.Matter)
}{
	{"actor_unresolved", func(p *identity.Principal, _ *approval.Matter) { p.Kind = identity.Agent }},
	{"actor_inactive", func(p *identity.Principal, _ *approval.Matter) { p.Member.Status = identity.Deactivated }},
	{"domain_not_authorized", func(_ *identity.Principal, m *approval.Matter) { m.Domain = identity.Payroll }},
	{"actor_limit_exceeded", func(p *identity.Principal, _ *approval.Matter) { p.Member.Limits[0].Amount = "99.99" }},
	{"self_approval_blocked", func(p *identity.Principal, m *approval.Matter) { m.AgentCreator = p.ID }},
	{"second_approval_required", func(p *identity.Principal, m *approval.Matter) {
		m.Approvals = []approval.Approval{{MemberID: p.ID, Hash: m.Hash, PolicyVersion: m.PolicyVersion}}
	}},
}

// TestPrecedence: of every set of things that are wrong, the first in the order
// is said; a rejection is bound by three, a person in general by two.
func TestPrecedence(t *testing.T) {
	for set := range 1 << len(wrongs) {
		p, m := person(), matter(t)
		var expected [3]fault.Code
		for i, wrong := range wrongs {
			if set&(1<<i) == 0 {
				continue
			}
			wrong.do(&p, &m)
			for n, bound := range []int{len(wrongs), 3, 2} {
				if i < bound && expected[n] == "" {
					expected[n] = wrong.code
				}
			}
		}
		equal(t, fmt.Sprintf("approve %06b", set), code(approval.Approve(p, m)), expected[0])
		equal(t, fmt.Sprintf("reject %06b", set), code(approval.Object(p, m)), expected[1])
		equal(t, fmt.Sprintf("decide %06b", set), code(approval.Person(p)), expected[2])
	}
}

// Who is no member at all decides nothing, whatever else is said of them.
func TestNobody(t *testing.T) {
	for name, p := range map[string]identity.Principal{
		"an agent":                  {Kind: identity.Agent, ID: "agt_1", Agent: &identity.AgentRecord{}},
		"a user without a record":   {Kind: identity.User, ID: "mbr_1"},
		"a holder of a capability":  {Kind: identity.User, ID: "mbr_1", Member: person().Member, URIs: []string{}},
		"nobody":                    {},
		"an agent with a record of": {Kind: identity.Agent, ID: "mbr_1", Member: person().Member},
	} {
		for what, err := range map[string]error{"approve": approval.Approve(p, matter(t)), "object": approval.Object(p, matter(t)), "decide": approval.Person(p)} {
			equal(t, name+": "+what, code(err), fault.ActorUnresolved)
		}
	}
}

// TestRolesAndDomains: each role in each domain and each state.
func TestRolesAndDomains(t *testing.T) {
	for _, role := range []identity.Role{identity.Viewer, identity.Approver, identity.Admin, "owner", ""} {
		for _, status := range []identity.Status{identity.Active, identity.Invited, identity.Deactivated, identity.Quarantined, ""} {
			for _, domain := range append(slices.Clone(identity.Domains), "") {
				for _, of := range [][]identity.Domain{nil, {identity.AP}, {identity.AR, identity.Payroll}, identity.Domains} {
					p := person(func(m *identity.MemberRecord) { m.Role, m.Status, m.Domains = role, status, of })
					want := fault.Code("")
					switch {
					case status != identity.Active:
						want = fault.ActorInactive
					case role != identity.Approver && role != identity.Admin, !slices.Contains(of, domain):
						want = fault.DomainNotAuthorized
					}
					m := matter(t, func(m *approval.Matter) { m.Domain = domain })
					equal(t, fmt.Sprintf("approve %s %s in %q of %v", role, status, domain, of), code(approval.Approve(p, m)), want)
					equal(t, fmt.Sprintf("reject %s %s in %q of %v", role, status, domain, of), code(approval.Object(p, m)), want)
				}
			}
		}
	}
}

// TestLimits: the limit counts in its own currency; without one in the amount's
// currency every amount is over.
func TestLimits(t *testing.T) {
	usd, eur := *limit("100.00", "USD"), *limit("1000.00", "EUR")
	for _, c := range []struct {
		name             string
		limits           []money.Written
		amount, currency string
		over             bool
	}{
		{"at the limit", []money.Written{usd}, "100.00", "USD", false},
		{"a cent over", []money.Written{usd}, "100.01", "USD", true},
		{"another currency", []money.Written{usd}, "1.00", "EUR", true},
		{"one of two", []money.Written{usd, eur}, "1000.00", "EUR", false},
		{"over one of two", []money.Written{usd, eur}, "1000.00", "USD", true},
		{"dollars are not tokens", []money.Written{usd}, "1", "USDC", true},
		{"no limit", nil, "0.01", "USD", true},
		{"a limit that cannot be read", []money.Written{{Amount: "1e9", Currency: "USD"}}, "0.01", "USD", true},
		{"a limit below zero", []money.Written{{Amount: "-1", Currency: "USD"}}, "0.01", "USD", true},
		{"two of one currency, the larger counts", []money.Written{usd, *limit("500.00", "USD")}, "200.00", "USD", false},
	} {
		want := map[bool]fault.Code{true: fault.ActorLimitExceeded}[c.over]
		p := person(func(m *identity.MemberRecord) { m.Limits = c.limits })
		m := matter(t, func(m *approval.Matter) { m.Amount = amount(t, c.amount, c.currency) })
		equal(t, c.name, code(approval.Approve(p, m)), want)
		equal(t, c.name+", rejecting", code(approval.Object(p, m)), "")
	}
	p := person(func(m *identity.MemberRecord) { m.Limits = nil })
	equal(t, "no money moves", code(approval.Approve(p, matter(t, func(m *approval.Matter) { m.Amount = nil }))), "")
}

func TestOneself(t *testing.T) {
	for name, change := range map[string]func(*approval.Matter){
		"the payee":            func(m *approval.Matter) { m.PayeeMember = "mbr_1" },
		"the agent's maker":    func(m *approval.Matter) { m.AgentCreator = "mbr_1" },
		"both":                 func(m *approval.Matter) { m.PayeeMember, m.AgentCreator = "mbr_1", "mbr_1" },
		"the payee of a match": func(m *approval.Matter) { m.PayeeMember, m.Amount = "mbr_1", nil },
	} {
		equal(t, name, code(approval.Approve(person(), matter(t, change))), fault.SelfApprovalBlocked)
		equal(t, name+" rejects", code(approval.Object(person(), matter(t, change))), "")
	}
}

// TestStanding: an approval of something else, or under another policy, is none,
// and one person is one.
func TestStanding(t *testing.T) {
	a := func(member, hash string, version int64) approval.Approval {
		return approval.Approval{MemberID: member, Hash: hash, PolicyVersion: version}
	}
	m := matter(t, func(m *approval.Matter) {
		m.PolicyVersion = 2
		m.Approvals = []approval.Approval{a("mbr_1", "old", 2), a("mbr_1", "h", 1), a("mbr_2", "h", 2), a("mbr_2", "h", 2), a("mbr_3", "h", 3), a("mbr_4", "", 2)}
	})
	standing := m.Standing()
	if len(standing) != 1 || standing[0].MemberID != "mbr_2" {
		t.Errorf("standing = %+v", standing)
	}
	equal(t, "whose approval is stale approves again", code(approval.Approve(person(), m)), "")
	equal(t, "enough", m.Enough(), true)
	m.Required = []string{"approver", "approver"}
	equal(t, "enough of two", m.Enough(), false)
}

// TestNeeded: how many people, by the policy and by three thresholds.
func TestNeeded(t *testing.T) {
	for _, c := range []struct {
		name      string
		required  []string
		threshold *money.Written
		amount    *money.Amount
		second    bool // an approval says so
		want      int
	}{
		{"nobody named", nil, nil, amount(t, "1.00", "USD"), false, 1},
		{"the policy's two", []string{"approver", "approver"}, nil, amount(t, "1.00", "USD"), false, 2},
		{"at the tenant's threshold", nil, limit("100.00", "USD"), amount(t, "100.00", "USD"), false, 1},
		{"above it", nil, limit("100.00", "USD"), amount(t, "100.01", "USD"), false, 2},
		{"another currency is above", nil, limit("100.00", "USD"), amount(t, "0.01", "EUR"), false, 2},
		{"a threshold nobody can read", nil, limit("much", "USD"), amount(t, "0.01", "USD"), false, 2},
		{"the member's own", nil, nil, amount(t, "1.00", "USD"), true, 2},
		{"above it with the policy's one", []string{"admin"}, limit("100.00", "USD"), amount(t, "101.00", "USD"), false, 2},
		{"above it with the policy's three", []string{"admin", "admin", "signer"}, limit("100.00", "USD"), amount(t, "101.00", "USD"), true, 3},
		{"no money", nil, limit("100.00", "USD"), nil, false, 1},
	} {
		m := matter(t, func(m *approval.Matter) {
			m.Required, m.Threshold, m.Amount = c.required, c.threshold, c.amount
			m.Approvals = []approval.Approval{{MemberID: "mbr_9", Hash: "h", PolicyVersion: 1, Second: c.second}}
		})
		equal(t, c.name, len(m.Needed()), c.want)
		equal(t, c.name+", one approval is enough", m.Enough(), c.want == 1 && len(c.required) == 0)
	}
}

// By notes what the member's own threshold asks for.
func TestBy(t *testing.T) {
	for _, c := range []struct {
		name   string
		own    *money.Written
		amount *money.Amount
		second bool
	}{
		{"none", nil, amount(t, "1000.00", "USD"), false},
		{"at it", limit("100.00", "USD"), amount(t, "100.00", "USD"), false},
		{"above it", limit("100.00", "USD"), amount(t, "100.01", "USD"), true},
		{"another currency", limit("100.00", "USD"), amount(t, "1.00", "EUR"), true},
		{"no money", limit("100.00", "USD"), nil, false},
	} {
		m := matter(t, func(m *approval.Matter) { m.Amount = c.amount })
		member := *person(func(m *identity.MemberRecord) { m.SecondApprover = c.own }).Member
		by := m.By(member, "now", "fine")
		equal(t, c.name, by, approval.Approval{MemberID: "mbr_1", Role: identity.Approver, Hash: "h", PolicyVersion: 1, At: "now", Note: "fine", Second: c.second})
	}
}

// TestEnough: counting says the same as giving each needed role a person of its
// own, for all small sets of people and roles.
func TestEnough(t *testing.T) {
	roles := []string{"approver", "admin", "signer"}
	people := []identity.Role{identity.Approver, identity.Admin}
	for n := range 4 {
		for _, needed := range tuples(roles, n) {
			for k := range 4 {
				for _, standing := range tuples(people, k) {
					m := matter(t, func(m *approval.Matter) { m.Required = needed })
					for i, role := range standing {
						m.Approvals = append(m.Approvals, approval.Approval{MemberID: fmt.Sprint("mbr_", i), Role: role, Hash: "h", PolicyVersion: 1})
					}
					want := assigns(needed, standing) && len(standing) > 0
					equal(t, fmt.Sprintf("%v by %v", needed, standing), m.Enough(), want)
				}
			}
		}
	}
}

// tuples are all lists of n words.
func tuples[T any](words []T, n int) [][]T {
	if n == 0 {
		return [][]T{nil}
	}
	var all [][]T
	for _, shorter := range tuples(words, n-1) {
		for _, word := range words {
			all = append(all, append(slices.Clone(shorter), word))
		}
	}
	return all
}

// assigns says whether each role can be given a person of its own, by trying.
func assigns(needed []string, people []identity.Role) bool {
	if len(needed) == 0 {
		return true
	}
	for i, person := range people {
		if needed[0] == "admin" && person != identity.Admin {
			continue
		}
		if assigns(needed[1:], append(slices.Clone(people[:i]), people[i+1:]...)) {
			return true
		}
	}
	return false
}
