package template

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// holds evaluates a condition of the template.
func (s *scope) holds(name string) (bool, error) {
	n, ok := s.conditions[name]
	if !ok {
		return false, fmt.Errorf("there is no condition %s", name)
	}
	if slices.Contains(s.judging, name) {
		return false, fmt.Errorf("condition %s depends on itself", name)
	}
	s.judging = append(s.judging, name)
	defer func() { s.judging = s.judging[:len(s.judging)-1] }()
	yes, err := s.condition(&n)
	if err != nil {
		return false, fmt.Errorf("condition %s: %w", name, err)
	}
	return yes, nil
}

func (s *scope) condition(n *yaml.Node) (bool, error) {
	name, arg := intrinsic(n)
	if n.Kind == yaml.MappingNode && len(n.Content) == 2 && n.Content[0].Value == "Condition" {
		name, arg = "Condition", n.Content[1]
	}
	switch name {
	case "Condition":
		return s.holds(arg.Value)
	case "Fn::Equals":
		return s.equals(arg)
	case "Fn::Not":
		if len(arg.Content) != 1 {
			return false, fmt.Errorf("Fn::Not: want one condition")
		}
		yes, err := s.condition(arg.Content[0])
		return !yes, err
	case "Fn::And", "Fn::Or":
		return s.all(arg, name == "Fn::And")
	}
	return false, fmt.Errorf("want Condition, Fn::Equals, Fn::Not, Fn::And or Fn::Or")
}

func (s *scope) equals(arg *yaml.Node) (bool, error) {
	if len(arg.Content) != 2 {
		return false, fmt.Errorf("Fn::Equals: want two values")
	}
	left, err := s.text(arg.Content[0])
	if err != nil {
		return false, err
	}
	right, err := s.text(arg.Content[1])
	return left == right, err
}

// all is And with want true, and Or with want false, by De Morgan: both are
// decided by the first condition that is not as wanted.
func (s *scope) all(arg *yaml.Node, want bool) (bool, error) {
	for _, n := range arg.Content {
		yes, err := s.condition(n)
		if err != nil {
			return false, err
		}
		if yes != want {
			return yes, nil
		}
	}
	return want, nil
}
