// Package approval is the law of people's decisions: who may decide about what,
// and when enough of them have. It is pure: it is given the person, the matter
// and what others decided before.
package approval

import (
	"slices"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/policy"
)

// Approval is one person's recorded approval. It counts only for the very thing
// that was shown and under the policy that was in force.
type Approval struct {
	MemberID      string        `json:"member_id"`
	Role          identity.Role `json:"role"`
	Hash          string        `json:"hash"` // of what was shown
	PolicyVersion int64         `json:"policy_version"`
	At            string        `json:"at"` // RFC 3339, milliseconds
	Note          string        `json:"note,omitempty"`
	Second        bool          `json:"second,omitempty"` // the member's own threshold asks for one more person
}

// Matter is what somebody decides about, as it is now.
type Matter struct {
	Domain        identity.Domain
	Amount        *money.Amount // nil where no money moves
	PayeeMember   string        // the member who is paid, empty for none
	AgentCreator  string        // the member who made the agent that proposes
	Hash          string        // of what is shown
	PolicyVersion int64
	Required      []string       // the policy's roles, one for each person
	Threshold     *money.Written // the tenant's: above it two people approve
	Approvals     []Approval     // so far
}

// check is one thing that must hold before a decision is looked at.
type check struct {
	code   fault.Code
	holds  func(identity.Principal, Matter) bool
	reason string
}

// checks are made in this order, and the first that fails is the answer. All of
// them bind an approval; only the first three a rejection, which moves nothing.
var checks = []check{
	{fault.ActorUnresolved, isPerson, "Only a person who is a member of the tenant can decide. Ask one to do it."},
	{fault.ActorInactive, isActive, "The member is not active. An admin of the tenant can activate them."},
	{fault.DomainNotAuthorized, mayDecide, "The member may not decide in this field: viewers decide nothing, others only in their approval domains."},
	{fault.ActorLimitExceeded, withinLimit, "The amount is over the member's limit in its currency. A member with a higher limit must decide."},
	{fault.SelfApprovalBlocked, notOneself, "Nobody approves a payment to themselves or a proposal of an agent they made. Another member must decide."},
	{fault.SecondApprovalNeeded, notTwice, "The member has approved this already, and it needs one more person. Another member must approve."},
}

// rejecting is how many of the checks bind a rejection.
const rejecting = 3

// Person says what keeps a principal from deciding about anything at all.
func Person(p identity.Principal) error { return judge(p, Matter{}, checks[:2]) }

// Approve says what keeps a principal from approving a matter, nil if nothing does.
func Approve(p identity.Principal, m Matter) error { return judge(p, m, checks) }

// Object says what keeps a principal from rejecting a matter, or from any other
// decision that moves nothing.
func Object(p identity.Principal, m Matter) error { return judge(p, m, checks[:rejecting]) }

func judge(p identity.Principal, m Matter, checks []check) error {
	for _, c := range checks {
		if !c.holds(p, m) {
			return fault.New(c.code, "%s", c.reason)
		}
	}
	return nil
}

func isPerson(p identity.Principal, _ Matter) bool {
	return p.Kind == identity.User && p.Member != nil && !p.Capability()
}

func isActive(p identity.Principal, _ Matter) bool { return p.Member.Status == identity.Active }

func mayDecide(p identity.Principal, m Matter) bool {
	return rank[p.Member.Role] > 0 && slices.Contains(p.Member.Domains, m.Domain)
}

func withinLimit(p identity.Principal, m Matter) bool {
	if m.Amount == nil {
		return true
	}
	return slices.ContainsFunc(p.Member.Limits, func(limit money.Written) bool { return !limit.Above(*m.Amount) })
}

func notOneself(p identity.Principal, m Matter) bool {
	return p.ID != m.PayeeMember && p.ID != m.AgentCreator
}

func notTwice(p identity.Principal, m Matter) bool {
	return !slices.ContainsFunc(m.Standing(), func(a Approval) bool { return a.MemberID == p.ID })
}

// rank orders the roles by what they are good for.
var rank = map[identity.Role]int{identity.Approver: 1, identity.Admin: 2}

// Standing are the approvals that count: of what is shown now, under the policy
// in force, each person once.
func (m Matter) Standing() []Approval {
	var standing []Approval
	for _, a := range m.Approvals {
		counted := slices.ContainsFunc(standing, func(s Approval) bool { return s.MemberID == a.MemberID })
		if a.Hash == m.Hash && a.PolicyVersion == m.PolicyVersion && !counted {
			standing = append(standing, a)
		}
	}
	return standing
}

// Needed are the roles of the people who must approve together: the policy's, at
// least one person, and two when the amount is above the tenant's threshold or
// that of a member who has approved.
func (m Matter) Needed() []string {
	needed, people := slices.Clone(m.Required), 1
	if m.Threshold != nil && m.Amount != nil && m.Threshold.Above(*m.Amount) {
		people = 2
	}
	if slices.ContainsFunc(m.Standing(), func(a Approval) bool { return a.Second }) {
		people = 2
	}
	for len(needed) < people {
		needed = append(needed, policy.RoleSigner)
	}
	return needed
}

// By is a member's approval of a matter.
func (m Matter) By(member identity.MemberRecord, at, note string) Approval {
	second := member.SecondApprover
	return Approval{
		MemberID: member.ID, Role: member.Role, Hash: m.Hash, PolicyVersion: m.PolicyVersion, At: at, Note: note,
		Second: second != nil && m.Amount != nil && second.Above(*m.Amount),
	}
}

// Enough says whether the standing approvals are those of the needed people. An
// admin is also good for an approver, and either for a signer, so it is enough
// to count: as many admins as admins are needed, and as many people in all.
func (m Matter) Enough() bool {
	standing, needed := m.Standing(), m.Needed()
	admins, wanted := 0, 0
	for _, a := range standing {
		if a.Role == identity.Admin {
			admins++
		}
	}
	for _, role := range needed {
		if role == policy.RoleAdmin {
			wanted++
		}
	}
	return admins >= wanted && len(standing) >= len(needed)
}
