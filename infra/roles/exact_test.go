package roles_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/infra/roles"
)

func load(t *testing.T) map[string]roles.Role {
	t.Helper()
	all, err := roles.Load(template)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// puts are the events a role may put on the bus, as source and type.
func puts(t *testing.T, r roles.Role) []string {
	var all []string
	for _, s := range r.Statements {
		if !slices.Contains(s.Actions, "events:PutEvents") {
			continue
		}
		only := map[string][]string{}
		for _, c := range s.Conditions {
			if c.Operator == "StringEquals" {
				only[c.Key] = c.Values
			}
		}
		if len(only["events:source"]) == 0 || len(only["events:detail-type"]) == 0 {
			t.Errorf("%s may put events of any source or type", r.Name)
		}
		for _, source := range only["events:source"] {
			for _, kind := range only["events:detail-type"] {
				all = append(all, source+" "+kind)
			}
		}
	}
	return all
}

// An event that its maker may put and the sweep may not would stay in the outbox
// for ever, once the bus was away.
func TestTheSweepMayPutWhatOthersMay(t *testing.T) {
	all := load(t)
	sweep := puts(t, all["OutboxFunction"])
	if len(sweep) == 0 || len(puts(t, all["McpFunction"])) == 0 {
		t.Fatal("no events are found: the test looks in the wrong place")
	}
	for function, role := range all {
		for _, event := range puts(t, role) {
			// What has another source goes another way: the outbox speaks for one.
			if strings.HasPrefix(event, "robotmoney.mcp ") && !slices.Contains(sweep, event) {
				t.Errorf("%s may put %s, OutboxFunction may not", function, event)
			}
		}
	}
}

// Nothing is scanned, no action is a pattern, and every request of the table has
// to say whose rows it is about.
func TestRolesAreExact(t *testing.T) {
	for function, role := range load(t) {
		for _, s := range role.Statements {
			fenced := slices.ContainsFunc(s.Conditions, func(c roles.Condition) bool {
				return c.Key == "dynamodb:LeadingKeys" && c.Operator == "ForAllValues:StringLike"
			})
			// Without it a request that names no key at all would pass.
			keyed := slices.ContainsFunc(s.Conditions, func(c roles.Condition) bool {
				return c.Key == "dynamodb:LeadingKeys" && c.Operator == "Null" && slices.Equal(c.Values, []string{"false"})
			})
			for _, action := range s.Actions {
				if action == "dynamodb:Scan" || strings.Contains(action, "*") {
					t.Errorf("%s may do %s", function, action)
				}
				if strings.HasPrefix(action, "dynamodb:") && !fenced {
					t.Errorf("%s may do %s with every row", function, action)
				}
				if strings.HasPrefix(action, "dynamodb:") && !keyed {
					t.Errorf("%s may do %s without naming a row", function, action)
				}
			}
			if slices.Contains(s.Resources, "*") && s.Sid != "WriteTraces" {
				t.Errorf("%s may do %v with everything", function, s.Actions)
			}
		}
	}
}

// TestAllows: the evaluator judges as IAM does.
func TestAllows(t *testing.T) {
	role := roles.Role{Statements: []roles.Statement{
		{Actions: []string{"dynamodb:PutItem"}, Resources: []string{"Table"}, Conditions: []roles.Condition{
			{Operator: "Null", Key: "k", Values: []string{"false"}}, {Operator: "ForAllValues:StringLike", Key: "k", Values: []string{"tenant#*"}}, {Operator: "ForAllValues:StringNotLike", Key: "k", Values: []string{"tenant#*#*"}},
		}},
		{Actions: []string{"dynamodb:UpdateItem"}, Resources: []string{"Table"}, Conditions: []roles.Condition{{Operator: "ForAllValues:StringLike", Key: "k", Values: []string{"tenant#*"}}}},
		{Actions: []string{"events:PutEvents"}, Resources: []string{"Bus"}, Conditions: []roles.Condition{{Operator: "StringEquals", Key: "k", Values: []string{"a", "b"}}}},
		{Actions: []string{"s3:PutObject"}, Resources: []string{"Bucket/*/sha256/*"}},
	}}
	for _, c := range []struct {
		action, resource string
		values           []string
		want             bool
	}{
		{"dynamodb:PutItem", "Table", []string{"tenant#acme"}, true},
		{"dynamodb:PutItem", "Table", []string{"tenant#acme", "agent#1"}, false},
		{"dynamodb:PutItem", "Table", []string{"tenant#acme#x"}, false},
		{"dynamodb:PutItem", "Table", nil, false},
		{"dynamodb:UpdateItem", "Table", nil, true}, // as IAM has it: ForAllValues of none holds
		{"dynamodb:PutItem", "Table/index/gsi1", []string{"tenant#acme"}, false},
		{"dynamodb:GetItem", "Table", []string{"tenant#acme"}, false},
		{"events:PutEvents", "Bus", []string{"b"}, true},
		{"events:PutEvents", "Bus", []string{"c"}, false},
		{"events:PutEvents", "Bus", nil, false},
		{"s3:PutObject", "Bucket/acme/sha256/0a", nil, true},
		{"s3:PutObject", "Bucket/acme/other", nil, false},
	} {
		if got := role.Allows(roles.Request{Action: c.action, Resource: c.resource, Context: map[string][]string{"k": c.values}}); got != c.want {
			t.Errorf("%s on %s with %v: %v", c.action, c.resource, c.values, got)
		}
	}
}
