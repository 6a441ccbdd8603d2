package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// maxDepth is how deep a document is nested: document, rules, rule, when,
// condition, sum. One more for what is wrong with what lies deeper to be said.
const maxDepth = 7

// node is a JSON value as it was written: nil, bool, string, json.Number,
// []node or []member. Objects keep every member, so that a name that stands
// twice is seen; a Go map would keep the last, and another reader the first.
type node struct{ value any }

type member struct {
	name string
	node node
}

// readTree reads one JSON text, of which encoding/json has checked the syntax.
func readTree(raw []byte) (node, error) {
	if err := json.Unmarshal(raw, new(json.RawMessage)); err != nil {
		return node{}, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return readNode(d, 0)
}

func readNode(d *json.Decoder, depth int) (node, error) {
	token, err := d.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return node{}, err
	}
	delim, nested := token.(json.Delim)
	if !nested {
		return node{token}, nil
	}
	if depth >= maxDepth {
		return node{}, fmt.Errorf("nested deeper than %d at byte %d", maxDepth, d.InputOffset())
	}
	value := any([]node{})
	if delim == '{' {
		value = []member{}
	}
	for d.More() {
		switch values := value.(type) {
		case []member:
			name, err := d.Token()
			if err != nil {
				return node{}, err
			}
			inner, err := readNode(d, depth+1)
			if err != nil {
				return node{}, err
			}
			value = append(values, member{name.(string), inner}) // the syntax was checked: a name is a string
		case []node:
			inner, err := readNode(d, depth+1)
			if err != nil {
				return node{}, err
			}
			value = append(values, inner)
		}
	}
	_, err = d.Token() // the end of it
	return node{value}, err
}

// String is the value for a message, cut when it is long.
func (n node) String() string {
	switch v := n.value.(type) {
	case nil:
		return "null"
	case string:
		const enough = 40
		if len(v) > enough {
			return strconv.QuoteToASCII(strings.ToValidUTF8(v[:enough], "")) + "..."
		}
		return strconv.QuoteToASCII(v)
	case []node:
		return "an array"
	case []member:
		return "an object"
	default:
		return fmt.Sprintf("%.40v", v)
	}
}

// placed is what is wrong with a document, and where. Whoever reads an outer
// value puts its key in front, so that a document in order costs no text.
type placed struct{ rule, path, reason string }

// Error writes the rule, the keys down to the value and the reason.
func (e *placed) Error() string {
	text := e.reason
	if e.path != "" {
		text = e.path + ": " + text
	}
	if e.rule != "" {
		text = "rule " + e.rule + ": " + text
	}
	return text
}

// wrong is a value that is not what it must be.
func wrong(n node, want string) error {
	return &placed{reason: "read " + n.String() + ", want " + want}
}

// under puts a key in front of an error's place.
func under(key string, err error) error {
	var at *placed
	if !errors.As(err, &at) {
		at = &placed{reason: err.Error()}
	}
	moved := *at
	switch {
	case moved.rule != "": // its id says more than its place
	case moved.path == "":
		moved.path = key
	case strings.HasPrefix(moved.path, "["):
		moved.path = key + moved.path
	default:
		moved.path = key + "." + moved.path
	}
	return &moved
}

// namedRule puts a rule's id in front of an error's place.
func namedRule(name string, err error) error {
	var at *placed
	if !errors.As(err, &at) {
		at = &placed{reason: err.Error()}
	}
	moved := *at
	moved.rule = name
	return &moved
}

// index is the key of an array's item.
func index(i int) string { return "[" + strconv.Itoa(i) + "]" }

// field is a key an object may have, and what reads its value.
type field struct {
	name string
	must bool
	read func(node) error
}

// must is a field that has to be there, and may is one that need not.
func must(name string, read func(node) error) field { return field{name, true, read} }
func may(name string, read func(node) error) field  { return field{name, false, read} }

// object reads an object that has these fields and no other, each once. Case
// counts, unlike in encoding/json: "Execute" is an unknown key.
func (n node) object(fields ...field) error {
	members, ok := n.value.([]member)
	if !ok {
		return wrong(n, "an object")
	}
	seen := make([]bool, len(fields))
	for _, m := range members {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == m.name })
		switch {
		case i < 0:
			return &placed{reason: "unknown key " + node{m.name}.String() + ", want " + names(fields)}
		case seen[i]:
			return &placed{reason: "the key " + m.name + " stands twice"}
		}
		seen[i] = true
		if err := fields[i].read(m.node); err != nil {
			return under(m.name, err)
		}
	}
	for i, f := range fields {
		if f.must && !seen[i] {
			return &placed{reason: "the key " + f.name + " is missing"}
		}
	}
	return nil
}

func names(fields []field) string {
	all := make([]string, len(fields))
	for i, f := range fields {
		all[i] = f.name
	}
	return "one of " + strings.Join(all, ", ")
}

// set reads a value to where it belongs, and setNew one that may be absent.
func set[T any](to *T, read func(node) (T, error)) func(node) error {
	return func(n node) (err error) {
		*to, err = read(n)
		return err
	}
}

func setNew[T any](to **T, read func(node) (T, error)) func(node) error {
	return func(n node) error {
		value, err := read(n)
		*to = &value
		return err
	}
}

// list reads an array of at least so many items. What it returns is never nil:
// nil is a condition that is absent, and an empty one holds for nobody.
func list[T any](least int, read func(node) (T, error)) func(node) ([]T, error) {
	return func(n node) ([]T, error) {
		items, ok := n.value.([]node)
		if !ok {
			return nil, wrong(n, "an array")
		}
		if len(items) < least {
			return nil, &placed{reason: "read an empty array, want at least " + strconv.Itoa(least) + " in it"}
		}
		values := make([]T, len(items))
		for i, item := range items {
			var err error
			if values[i], err = read(item); err != nil {
				return nil, under(index(i), err)
			}
		}
		return values, nil
	}
}
