package template

import (
	"encoding/json"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"
)

// object reads one mapping of the template. It remembers what was asked for, so
// that a property nobody asked for is an error and not a difference between
// here and AWS. Wrong values are noted in the scope and read as zero.
type object struct {
	*scope
	where  string
	node   *yaml.Node
	values map[string]*yaml.Node
	order  []string
	asked  map[string]bool
}

// object opens a mapping; nil is read as an empty one.
func (s *scope) object(where string, n *yaml.Node) *object {
	o := &object{scope: s, where: where, node: n, values: map[string]*yaml.Node{}, asked: map[string]bool{}}
	if n == nil || n.Kind == 0 {
		return o
	}
	plain, err := s.reduce(n)
	if err != nil {
		s.problem(where, n, "%v", err)
		return o
	}
	if plain == nil {
		return o
	}
	if plain.Kind != yaml.MappingNode {
		s.problem(where, n, "want a mapping")
		return o
	}
	for i := 0; i+1 < len(plain.Content); i += 2 {
		key := plain.Content[i]
		if _, twice := o.values[key.Value]; twice {
			s.problem(o.path(key.Value), key, "stated twice")
		}
		o.set(key.Value, plain.Content[i+1])
	}
	return o
}

func (o *object) set(key string, n *yaml.Node) {
	if name, arg := intrinsic(n); name == "Ref" && arg.Value == noValue {
		return
	}
	if _, known := o.values[key]; !known {
		o.order = append(o.order, key)
	}
	o.values[key] = n
}

// get returns a property's node, nil when it is not there.
func (o *object) get(key string) *yaml.Node {
	o.asked[key] = true
	return o.values[key]
}

// ignore names properties that mean nothing on this machine.
func (o *object) ignore(keys ...string) {
	for _, key := range keys {
		o.asked[key] = true
	}
}

// done notes every property that was neither read nor ignored.
func (o *object) done() {
	for _, key := range o.order {
		if !o.asked[key] {
			o.problem(o.path(key), o.values[key], "this property is not understood here")
		}
	}
}

func (o *object) path(key string) string { return o.where + "." + key }

// missing notes that a property must be there.
func (o *object) missing(key string) { o.problem(o.path(key), o.node, "missing") }

// text reads an optional text.
func (o *object) text(key string) string {
	n := o.get(key)
	if n == nil {
		return ""
	}
	text, err := o.scope.text(n)
	if err != nil {
		o.problem(o.path(key), n, "%v", err)
	}
	return text
}

// must reads a text that has to be there.
func (o *object) must(key string) string {
	if o.get(key) == nil {
		o.missing(key)
		return ""
	}
	return o.text(key)
}

// one reads a text that may only have the values given; empty stands for the
// first where the property is optional on AWS.
func (o *object) one(key string, values ...string) {
	got := o.text(key)
	for _, value := range values {
		if got == value {
			return
		}
	}
	o.problem(o.path(key), o.values[key], "%q is not understood here, only %q", got, values)
}

// number reads a whole number between two bounds, or def when there is none.
func (o *object) number(key string, def, low, high int) int {
	n := o.get(key)
	if n == nil {
		return def
	}
	text, err := o.scope.text(n)
	if err != nil {
		o.problem(o.path(key), n, "%v", err)
		return def
	}
	value, err := strconv.Atoi(text)
	if err != nil || value < low || value > high {
		o.problem(o.path(key), n, "%q is no whole number from %d to %d", text, low, high)
		return def
	}
	return value
}

// seconds reads a whole number of seconds.
func (o *object) seconds(key string, def, low, high int) time.Duration {
	return time.Duration(o.number(key, def, low, high)) * time.Second
}

// sub opens a mapping inside; an absent one is empty.
func (o *object) sub(key string) *object { return o.object(o.path(key), o.get(key)) }

// list reads a sequence; an absent one is empty.
func (o *object) list(key string) []*yaml.Node {
	n := o.get(key)
	if n == nil {
		return nil
	}
	plain, err := o.reduce(n)
	if err != nil {
		o.problem(o.path(key), n, "%v", err)
		return nil
	}
	if plain == nil {
		return nil
	}
	if plain.Kind != yaml.SequenceNode {
		o.problem(o.path(key), n, "want a list")
		return nil
	}
	return plain.Content
}

// json reads a property as the JSON it stands for, nil when it is not there.
func (o *object) json(key string) json.RawMessage {
	n := o.get(key)
	if n == nil {
		return nil
	}
	value, err := o.value(n)
	if err != nil {
		o.problem(o.path(key), n, "%v", err)
		return nil
	}
	raw, err := json.Marshal(value)
	if err != nil {
		o.problem(o.path(key), n, "%v", err)
	}
	return raw
}

// names reads a property that names another resource of one of the types, and
// returns its logical id. Both !Ref and !GetAtt R.Arn name it.
func (o *object) names(key string, types ...string) string {
	n := o.get(key)
	if n == nil {
		o.missing(key)
		return ""
	}
	text, err := o.logical().text(n)
	if err != nil {
		o.problem(o.path(key), n, "%v", err)
		return ""
	}
	return o.resourceOf(key, text, types...)
}

// namesIfAny is names for a property that may be absent.
func (o *object) namesIfAny(key string, types ...string) string {
	if o.get(key) == nil {
		return ""
	}
	return o.names(key, types...)
}
