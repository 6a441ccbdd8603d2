package claim

import "strings"

// Subjects are the actions an event is about: a payment intent or another
// proposal, an authorization, an execution. Empty is none.
type Subjects struct{ Case, Authorization, Execution string }

// SubjectsOf finds the actions an event, as Parse read it, is about. Where it
// says two of one kind, the one whose state it tells comes first. The events of
// requests are about none: what a caller wrote is not what happened.
func SubjectsOf(event map[string]any) Subjects {
	var s Subjects
	if strings.HasPrefix(text(event, "action"), "agent.mcp.") {
		return s
	}
	for _, name := range []string{
		text(event, "after_state", "id"), text(event, "inputs", "id"), text(event, "inputs", "authorization_id"), text(event, "inputs", "execution_id"),
	} {
		if place := s.of(name); place != nil && *place == "" {
			*place = name
		}
	}
	return s
}

// of is the place of an id, nil for an id of something else.
func (s *Subjects) of(name string) *string {
	prefix, rest, found := strings.Cut(name, "_")
	if !found || rest == "" || len(rest) > maxName || strings.Trim(rest, alphabet) != "" {
		return nil
	}
	switch prefix {
	case "pi", "prop":
		return &s.Case
	case "authz":
		return &s.Authorization
	case "exec":
		return &s.Execution
	}
	return nil
}

// The form of ids behind their prefix.
const (
	maxName  = 64
	alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
)

// Has says whether an action is among the subjects.
func (s Subjects) Has(action string) bool {
	place := s.of(action)
	return place != nil && *place == action
}

// Index is the number of the table's index, from 1, in which the events about an
// action lie, and 0 for what is no action's id.
func Index(action string) int {
	var s Subjects
	switch s.of(action) {
	case &s.Case:
		return 1
	case &s.Authorization:
		return 2
	case &s.Execution:
		return 3
	}
	return 0
}

// at is what lies at a path of names in an object, nil when nothing does.
func at(object map[string]any, path ...string) any {
	var v any = object
	for _, name := range path {
		inner, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = inner[name]
	}
	return v
}

// text is the string at a path, empty when there is none.
func text(object map[string]any, path ...string) string {
	s, _ := at(object, path...).(string)
	return s
}

// list is the list at a path, nil when there is none.
func list(object map[string]any, path ...string) []any {
	l, _ := at(object, path...).([]any)
	return l
}
