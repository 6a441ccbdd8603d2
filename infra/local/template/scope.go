package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// noValue is the pseudo parameter that takes a property away.
const noValue = "AWS::NoValue"

// scope is what the intrinsic functions of a template are resolved with.
type scope struct {
	parameters map[string]string
	required   map[string]bool // parameters without a default that nobody gave
	conditions map[string]yaml.Node
	resources  map[string]string // type by logical id
	resolve    Resolver
	problems   []error
	judging    []string // conditions being evaluated, to notice a circle
}

func newScope(file document, o Options) (*scope, error) {
	s := &scope{
		parameters: map[string]string{
			"AWS::AccountId": "000000000000",
			"AWS::Partition": "aws",
			"AWS::Region":    "us-east-1",
			"AWS::StackName": "robotmoney-local",
			"AWS::URLSuffix": "amazonaws.com",
		},
		required:   map[string]bool{},
		conditions: file.Conditions,
		resources:  map[string]string{},
		resolve:    o.Resolve,
	}
	if s.resolve == nil {
		s.resolve = Logical
	}
	for name, p := range file.Parameters {
		s.required[name] = p.Default.Kind == 0
		if p.Default.Kind != 0 {
			s.parameters[name] = p.Default.Value
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Parameters)) {
		_, pseudo := s.parameters[name]
		if _, known := file.Parameters[name]; !known && !(pseudo && strings.HasPrefix(name, "AWS::")) {
			return nil, fmt.Errorf("parameter %s was given, but the template has none of that name", name)
		}
		s.parameters[name] = o.Parameters[name]
		s.required[name] = false
	}
	return s, nil
}

// problem notes what is wrong at a place of the template.
func (s *scope) problem(where string, n *yaml.Node, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if n != nil && n.Line > 0 {
		where = fmt.Sprintf("%s (line %d)", where, n.Line)
	}
	s.problems = append(s.problems, fmt.Errorf("%s: %s", where, text))
}

// logical is the same scope with references resolved to their own text, for
// properties that name another resource of the template.
func (s *scope) logical() *scope {
	other := *s
	other.resolve = Logical
	return &other
}

// reduce resolves the intrinsic function a node may be. What it returns is a
// plain scalar, sequence or mapping (whose children may be functions), or nil
// for AWS::NoValue.
func (s *scope) reduce(n *yaml.Node) (*yaml.Node, error) {
	if n.Kind == yaml.AliasNode {
		// CloudFormation takes none, and one can hold itself.
		return nil, fmt.Errorf("YAML alias *%s: CloudFormation takes none", n.Value)
	}
	name, arg := intrinsic(n)
	switch name {
	case "":
		return n, nil
	case "Ref":
		if arg.Value == noValue {
			return nil, nil
		}
		return s.scalar(n)(s.ref(arg.Value))
	case "Fn::GetAtt":
		return s.scalar(n)(s.attribute(arg))
	case "Fn::Sub":
		return s.scalar(n)(s.substitute(arg))
	case "Fn::Join":
		return s.scalar(n)(s.join(arg))
	case "Fn::If":
		return s.choose(arg)
	}
	return nil, fmt.Errorf("%s is not understood", name)
}

// intrinsic tells a function and its argument from a node, in the short form
// (!Sub x) and in the long one ({Fn::Sub: x}).
func intrinsic(n *yaml.Node) (name string, arg *yaml.Node) {
	if tag, ok := strings.CutPrefix(n.Tag, "!"); ok && !strings.HasPrefix(tag, "!") && tag != "" {
		if tag == "Ref" || tag == "Condition" {
			return tag, n
		}
		return "Fn::" + tag, n
	}
	if n.Kind == yaml.MappingNode && len(n.Content) == 2 {
		key := n.Content[0].Value
		if key == "Ref" || strings.HasPrefix(key, "Fn::") {
			return key, n.Content[1]
		}
	}
	return "", nil
}

// scalar makes a node of a function's result, in the place of the function.
func (s *scope) scalar(at *yaml.Node) func(string, error) (*yaml.Node, error) {
	return func(text string, err error) (*yaml.Node, error) {
		if err != nil {
			return nil, err
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Line: at.Line}, nil
	}
}

func (s *scope) ref(name string) (string, error) {
	if value, ok := s.parameters[name]; ok {
		return value, nil
	}
	if s.required[name] {
		return "", fmt.Errorf("parameter %s has no default and was not given", name)
	}
	// The alias that SAM publishes of a function is the function itself here, where
	// there is one version of everything.
	return s.resource(Reference{Resource: strings.TrimSuffix(name, ".Alias")})
}

func (s *scope) resource(r Reference) (string, error) {
	if _, ok := s.resources[r.Resource]; !ok {
		return "", fmt.Errorf("%s is neither a parameter nor a resource of the template", r.Resource)
	}
	value, err := s.resolve(r)
	if err != nil {
		name, _ := Logical(r)
		return "", fmt.Errorf("resolve %s: %w", name, err)
	}
	return value, nil
}

func (s *scope) attribute(arg *yaml.Node) (string, error) {
	text := arg.Value
	if arg.Kind == yaml.SequenceNode {
		var parts []string
		for _, part := range arg.Content {
			parts = append(parts, part.Value)
		}
		text = strings.Join(parts, ".")
	}
	resource, attribute, ok := strings.Cut(text, ".")
	if !ok || resource == "" || attribute == "" {
		return "", fmt.Errorf("Fn::GetAtt of %q: want RESOURCE.ATTRIBUTE", text)
	}
	return s.resource(Reference{resource, attribute})
}

// substitute replaces each ${NAME} of a text; ${!NAME} stands for ${NAME}.
func (s *scope) substitute(arg *yaml.Node) (string, error) {
	if arg.Kind != yaml.ScalarNode {
		return "", fmt.Errorf("Fn::Sub with variables of its own is not understood")
	}
	var out strings.Builder
	for rest := arg.Value; ; {
		before, after, found := strings.Cut(rest, "${")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		name, tail, closed := strings.Cut(after, "}")
		if !closed {
			return "", fmt.Errorf("Fn::Sub of %q: ${ without }", arg.Value)
		}
		rest = tail
		value, err := s.variable(name)
		if err != nil {
			return "", err
		}
		out.WriteString(value)
	}
}

func (s *scope) variable(name string) (string, error) {
	if literal, ok := strings.CutPrefix(name, "!"); ok {
		return "${" + literal + "}", nil
	}
	if resource, attribute, ok := strings.Cut(name, "."); ok {
		return s.resource(Reference{resource, attribute})
	}
	return s.ref(name)
}

func (s *scope) join(arg *yaml.Node) (string, error) {
	if arg.Kind != yaml.SequenceNode || len(arg.Content) != 2 || arg.Content[1].Kind != yaml.SequenceNode {
		return "", fmt.Errorf("Fn::Join: want [DELIMITER, [VALUES]]")
	}
	var parts []string
	for _, n := range arg.Content[1].Content {
		part, err := s.text(n)
		if err != nil {
			return "", err
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, arg.Content[0].Value), nil
}

func (s *scope) choose(arg *yaml.Node) (*yaml.Node, error) {
	if arg.Kind != yaml.SequenceNode || len(arg.Content) != 3 {
		return nil, fmt.Errorf("Fn::If: want [CONDITION, VALUE, VALUE]")
	}
	yes, err := s.holds(arg.Content[0].Value)
	if err != nil {
		return nil, err
	}
	if yes {
		return s.reduce(arg.Content[1])
	}
	return s.reduce(arg.Content[2])
}

// text is a node's value as a text, as parameters and properties travel.
func (s *scope) text(n *yaml.Node) (string, error) {
	plain, err := s.reduce(n)
	if err != nil {
		return "", err
	}
	if plain == nil || plain.Kind != yaml.ScalarNode {
		return "", fmt.Errorf("want a text or a number")
	}
	return plain.Value, nil
}

// value is a node with all functions inside resolved, as JSON knows it.
func (s *scope) value(n *yaml.Node) (any, error) {
	plain, err := s.reduce(n)
	if err != nil || plain == nil {
		return nil, err
	}
	switch plain.Kind {
	case yaml.MappingNode:
		out := map[string]any{}
		for i := 0; i+1 < len(plain.Content); i += 2 {
			if out[plain.Content[i].Value], err = s.value(plain.Content[i+1]); err != nil {
				return nil, err
			}
		}
		return out, nil
	case yaml.SequenceNode:
		out := []any{}
		for _, child := range plain.Content {
			element, err := s.value(child)
			if err != nil {
				return nil, err
			}
			out = append(out, element)
		}
		return out, nil
	}
	var out any
	err = plain.Decode(&out)
	return out, err
}
