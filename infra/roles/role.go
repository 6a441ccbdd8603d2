// Package roles holds what each function may do, as template.yaml says it, against
// what it does. IAM itself runs nowhere on this machine, so a permission that is
// missing would be found on the first day in production, and one too many never.
package roles

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Role is what a function may do.
type Role struct {
	Name       string
	Statements []Statement
}

// Statement allows actions on resources under conditions. Resources are written
// with the template's names: Table, Table/index/gsi1, BlobBucket/*.
type Statement struct {
	Sid                string
	Actions, Resources []string
	Conditions         []Condition
}

// Condition holds an operator of IAM against the values of a key.
type Condition struct {
	Operator, Key string
	Values        []string
}

// Request is one thing a function wants to do, with the values of the keys that
// conditions look at.
type Request struct {
	Action, Resource string
	Context          map[string][]string
}

// Allows says whether some statement allows a request. There are no denials.
func (r Role) Allows(q Request) bool {
	return slices.ContainsFunc(r.Statements, func(s Statement) bool { return s.allows(q) })
}

func (s Statement) allows(q Request) bool {
	return slices.Contains(s.Actions, q.Action) && matchesAny(s.Resources, q.Resource) &&
		!slices.ContainsFunc(s.Conditions, func(c Condition) bool { return !c.holds(q.Context[c.Key]) })
}

// holds judges a condition as IAM does: with ForAllValues every value of the
// request must pass, and a request without one passes. Null says whether there is
// none, and a plain operator wants one value, which is there.
func (c Condition) holds(values []string) bool {
	if c.Operator == "Null" {
		return slices.Equal(c.Values, []string{strconv.FormatBool(len(values) == 0)})
	}
	operator, all := strings.CutPrefix(c.Operator, "ForAllValues:")
	if !all && len(values) != 1 {
		return false
	}
	for _, value := range values {
		passes := false
		switch operator {
		case "StringEquals":
			passes = slices.Contains(c.Values, value)
		case "StringLike":
			passes = matchesAny(c.Values, value)
		case "StringNotLike":
			passes = !matchesAny(c.Values, value)
		}
		if !passes {
			return false
		}
	}
	return true
}

func matchesAny(patterns []string, value string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, value) })
}

// matches judges IAM's * in a pattern.
func matches(pattern, value string) bool {
	parts := strings.Split(pattern, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`\A` + strings.Join(parts, "(?s:.*)") + `\z`).MatchString(value)
}

// Load reads the roles of a template, by the names of the functions that have
// them.
func Load(path string) (map[string]Role, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the roles: %w", err)
	}
	var file struct {
		Resources map[string]resource `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(raw, &file); err != nil {
		return nil, fmt.Errorf("read the roles: %w", err)
	}
	byName, roles := map[string]Role{}, map[string]Role{}
	for name, r := range file.Resources {
		if r.Type != "AWS::IAM::Role" && r.Type != "AWS::IAM::RolePolicy" {
			continue
		}
		owner := name
		if r.Type == "AWS::IAM::RolePolicy" {
			owner = r.Properties.RoleName.Value
		}
		role := byName[owner]
		role.Name = owner
		for _, document := range r.documents() {
			for _, s := range document.Statement {
				role.Statements = append(role.Statements, s.read())
			}
		}
		byName[owner] = role
	}
	for name, r := range file.Resources {
		if r.Type == "AWS::Serverless::Function" {
			role, attribute, _ := strings.Cut(r.Properties.Role.Value, ".")
			if attribute != "Arn" || byName[role].Name == "" {
				return nil, fmt.Errorf("function %s: no role of the template is its own", name)
			}
			roles[name] = byName[role]
		}
	}
	return roles, nil
}

type resource struct {
	Type       string `yaml:"Type"`
	Properties struct {
		Role           yaml.Node `yaml:"Role"`
		RoleName       yaml.Node `yaml:"RoleName"`
		PolicyDocument document  `yaml:"PolicyDocument"`
		Policies       []struct {
			PolicyDocument document `yaml:"PolicyDocument"`
		} `yaml:"Policies"`
	} `yaml:"Properties"`
}

func (r resource) documents() []document {
	all := []document{r.Properties.PolicyDocument}
	for _, p := range r.Properties.Policies {
		all = append(all, p.PolicyDocument)
	}
	return all
}

type document struct {
	Statement []statement `yaml:"Statement"`
}

type statement struct {
	Sid       string                          `yaml:"Sid"`
	Action    yaml.Node                       `yaml:"Action"`
	Resource  yaml.Node                       `yaml:"Resource"`
	Condition map[string]map[string]yaml.Node `yaml:"Condition"`
}

func (s statement) read() Statement {
	out := Statement{Sid: s.Sid, Actions: texts(s.Action)}
	for _, r := range texts(s.Resource) {
		out.Resources = append(out.Resources, named(r))
	}
	for operator, keys := range s.Condition {
		for key, values := range keys {
			out.Conditions = append(out.Conditions, Condition{operator, key, texts(values)})
		}
	}
	return out
}

// named is a resource by the template's names, whichever way they are written.
func named(text string) string {
	return strings.NewReplacer("${", "", "}", "", ".Arn", "").Replace(text)
}

// texts are the values of a node that is a text or a list of them.
func texts(n yaml.Node) (values []string) {
	if n.Kind == yaml.ScalarNode {
		return []string{n.Value}
	}
	for _, child := range n.Content {
		values = append(values, child.Value)
	}
	return values
}
