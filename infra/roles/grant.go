package roles

import (
	"slices"
	"strings"
)

// Grant is a part of a statement that something must use: an action on a
// resource, or one value that a condition lists.
type Grant struct {
	Role, Sid        string
	Action, Resource string
	Key, Value       string
	statement        Statement
}

// String is the grant in words: role, statement, and what is allowed.
func (g Grant) String() string {
	return strings.TrimSpace(strings.Join([]string{g.Role, g.Sid, g.Action + g.Value, g.Resource}, " "))
}

// Uses says whether a request that the statement allows takes this part of it.
func (g Grant) Uses(q Request) bool {
	if !g.statement.allows(q) {
		return false
	}
	if g.Key != "" {
		return slices.ContainsFunc(q.Context[g.Key], func(value string) bool { return matches(g.Value, value) })
	}
	return q.Action == g.Action && matches(g.Resource, q.Resource)
}

// Grants are all parts of a role. An index takes queries and nothing else.
func (r Role) Grants() []Grant {
	var all []Grant
	for _, s := range r.Statements {
		part := Grant{Role: r.Name, Sid: s.Sid, statement: s}
		for _, action := range s.Actions {
			for _, resource := range s.Resources {
				if g := part; !strings.Contains(resource, "/index/") || action == "dynamodb:Query" {
					g.Action, g.Resource = action, resource
					all = append(all, g)
				}
			}
		}
		for _, c := range s.Conditions {
			for _, value := range c.Values {
				if g := part; c.Operator != "ForAllValues:StringNotLike" && c.Operator != "Null" && slices.Contains([]string{leadingKeys, eventType}, c.Key) {
					g.Key, g.Value = c.Key, value
					all = append(all, g)
				}
			}
		}
	}
	return all
}
