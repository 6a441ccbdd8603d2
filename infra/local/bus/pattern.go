package bus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Pattern is an EventBridge event pattern, ready to match.
type Pattern struct{ root map[string]node }

// node is either a level of names or, at a leaf, conditions of which one must
// hold.
type node struct {
	fields map[string]node
	any    []condition
}

// condition looks at the values of one field: one for a scalar, several for an
// array, none where the field is absent.
type condition func(values []any) bool

// ParsePattern reads a pattern: names as nested as the event, and at each leaf
// a list of which one must hold: an exact string, number, true, false or null,
// {"prefix":s}, {"suffix":s}, {"equals-ignore-case":s}, {"exists":bool} or
// {"anything-but":...} with a scalar, a list of them or {"prefix":s}. Anything
// else of EventBridge ($or, numeric, cidr, wildcard) is an error here rather
// than a rule that never fires.
func ParsePattern(raw []byte) (Pattern, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var root map[string]any
	if err := decoder.Decode(&root); err != nil {
		return Pattern{}, fmt.Errorf("event pattern: %w", err)
	}
	if decoder.More() {
		return Pattern{}, errors.New("event pattern: something follows the object")
	}
	fields, err := parseFields(root)
	if err != nil {
		return Pattern{}, fmt.Errorf("event pattern: %w", err)
	}
	return Pattern{fields}, nil
}

// Match tells whether an envelope, as JSON, fits the pattern.
func (p Pattern) Match(event []byte) bool {
	e, err := readEnvelope(event)
	return err == nil && p.match(e.fields)
}

func (p Pattern) match(event map[string]any) bool { return matchFields(p.root, event) }

func parseFields(object map[string]any) (map[string]node, error) {
	if len(object) == 0 {
		return nil, errors.New("an object is empty")
	}
	out := make(map[string]node, len(object))
	for name, value := range object {
		if strings.HasPrefix(name, "$") {
			return nil, fmt.Errorf("%s is not understood here", name)
		}
		var n node
		var err error
		switch v := value.(type) {
		case map[string]any:
			n.fields, err = parseFields(v)
		case []any:
			n.any, err = parseConditions(v)
		default:
			err = errors.New("want an object or a list")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = n
	}
	return out, nil
}

func parseConditions(list []any) ([]condition, error) {
	if len(list) == 0 {
		return nil, errors.New("a list is empty")
	}
	out := make([]condition, 0, len(list))
	for _, value := range list {
		c, err := parseCondition(value)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func parseCondition(value any) (condition, error) {
	object, ok := value.(map[string]any)
	if !ok {
		if _, list := value.([]any); list {
			return nil, errors.New("a list in a list")
		}
		return anyOf(func(v any) bool { return v == value }), nil
	}
	if len(object) != 1 {
		return nil, errors.New("a condition has one name")
	}
	for name, operand := range object {
		switch name {
		case "exists":
			if want, ok := operand.(bool); ok {
				return func(values []any) bool { return (len(values) > 0) == want }, nil
			}
		case "anything-but":
			if differs, ok := parseAnythingBut(operand); ok {
				return anyOf(differs), nil
			}
		case "prefix", "suffix", "equals-ignore-case":
			if text, ok := operand.(string); ok && text != "" {
				return anyOf(textTest(name, text)), nil
			}
		}
		return nil, fmt.Errorf("condition %q with %v is not understood here", name, operand)
	}
	panic("unreachable: the object has one name")
}

// anyOf holds if test holds for one value, so never for an absent field.
func anyOf(test func(any) bool) condition {
	return func(values []any) bool { return slices.ContainsFunc(values, test) }
}

func textTest(kind, text string) func(any) bool {
	test := map[string]func(a, b string) bool{
		"prefix": strings.HasPrefix, "suffix": strings.HasSuffix, "equals-ignore-case": strings.EqualFold,
	}[kind]
	return func(v any) bool {
		s, ok := v.(string)
		return ok && test(s, text)
	}
}

// parseAnythingBut returns a test for a value that is none of the operand.
func parseAnythingBut(operand any) (func(any) bool, bool) {
	excluded, isList := operand.([]any)
	switch o := operand.(type) {
	case map[string]any:
		text, ok := o["prefix"].(string)
		if !ok || len(o) != 1 || text == "" {
			return nil, false
		}
		has := textTest("prefix", text)
		return func(v any) bool { return !has(v) }, true
	case string, json.Number:
		excluded = []any{o}
	}
	if isList && len(excluded) == 0 {
		return nil, false
	}
	for _, e := range excluded {
		switch e.(type) {
		case string, json.Number:
		default:
			return nil, false
		}
	}
	return func(v any) bool { return !slices.Contains(excluded, v) }, len(excluded) > 0
}

func matchFields(fields map[string]node, event map[string]any) bool {
	for name, n := range fields {
		if !n.match(event[name], has(event, name)) {
			return false
		}
	}
	return true
}

func has(event map[string]any, name string) bool {
	_, ok := event[name]
	return ok
}

func (n node) match(value any, present bool) bool {
	if n.fields == nil {
		values := leaves(value, present)
		return slices.ContainsFunc(n.any, func(c condition) bool { return c(values) })
	}
	if list, ok := value.([]any); ok { // objects in a list: one must fit
		return slices.ContainsFunc(list, func(v any) bool { return n.match(v, true) })
	}
	object, _ := value.(map[string]any) // where there is none, its fields are absent
	return matchFields(n.fields, object)
}

// leaves are the scalars of a field; an object has none: only its own fields
// can be asked for.
func leaves(value any, present bool) []any {
	if !present {
		return nil
	}
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	return slices.DeleteFunc(slices.Clone(list), func(v any) bool {
		switch v.(type) {
		case map[string]any, []any:
			return true
		}
		return false
	})
}
