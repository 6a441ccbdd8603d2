// Package schema declares what a tool takes and gives, once: the JSON schema a
// client sees and the reading of what it sends come from the same fields.
package schema

import (
	"encoding/json"
	"slices"
)

// Type is a JSON type.
type Type string

// The types of fields.
const (
	String  Type = "string"
	Integer Type = "integer"
	Number  Type = "number"
	Boolean Type = "boolean"
	Object  Type = "object"
	Array   Type = "array"
	// Any takes whatever comes: the reader sorts it out. Its schema names no
	// type, or shows the object it should be where Fields are given.
	Any Type = ""
)

// Field is one member of an object: an argument of a tool, or a part of its
// answer. A schema made of fields is plain: no $ref, no alternatives at the
// root, nothing some host refuses.
type Field struct {
	Name        string
	Type        Type
	Description string
	Required    bool
	Nullable    bool // answers only: the member may be null
	Enum        []string
	Format      string // answers only, a hint: date, date-time
	Min, Max    int64  // of an integer; of a string's characters; of an array's items. Both 0: no bound
	Default     any    // what an absent argument means, for the description of it
	Fields      []Field
	Items       *Field
}

// Of writes the JSON schema of an object with these fields. Members it does not
// name are allowed: the reader decides what becomes of them.
func Of(fields ...Field) json.RawMessage {
	raw, err := json.Marshal(object(fields))
	if err != nil { // only a Default that is no JSON value, a mistake in a declaration
		return json.RawMessage(`{"type":"object"}`)
	}
	return raw
}

// node is a JSON schema with its members in a fixed order.
type node struct {
	Type        any        `json:"type,omitempty"`
	Description string     `json:"description,omitempty"`
	Properties  properties `json:"properties,omitzero"`
	Required    []string   `json:"required,omitempty"`
	Items       *node      `json:"items,omitempty"`
	Enum        []any      `json:"enum,omitempty"`
	Format      string     `json:"format,omitempty"`
	Minimum     *int64     `json:"minimum,omitempty"`
	Maximum     *int64     `json:"maximum,omitempty"`
	MinLength   *int64     `json:"minLength,omitempty"`
	MaxLength   *int64     `json:"maxLength,omitempty"`
	MinItems    *int64     `json:"minItems,omitempty"`
	MaxItems    *int64     `json:"maxItems,omitempty"`
	Default     any        `json:"default,omitempty"`
}

func object(fields []Field) *node {
	n := &node{Type: Object, Properties: append(properties{}, fields...)}
	for _, f := range fields {
		if f.Required {
			n.Required = append(n.Required, f.Name)
		}
	}
	return n
}

// properties are the schemas of an object's members by name, in the order they
// are declared in.
type properties []Field

// MarshalJSON writes a JSON object, which no map would keep in order.
func (p properties) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, f := range p {
		name, err := json.Marshal(f.Name)
		if err != nil {
			return nil, err
		}
		body, err := json.Marshal(f.node())
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = slices.Concat(text, name, []byte{':'}, body)
	}
	return append(text, '}'), nil
}

func (f Field) node() *node {
	n := &node{Type: f.Type}
	switch {
	case (f.Type == Object || f.Type == Any) && f.Fields != nil:
		n = object(f.Fields)
	case f.Type == Any:
		n.Type = nil
	}
	n.Description, n.Format, n.Default = f.Description, f.Format, f.Default
	for _, value := range f.Enum {
		n.Enum = append(n.Enum, value)
	}
	if f.Nullable {
		n.Type = []Type{f.Type, "null"}
		if n.Enum != nil {
			n.Enum = append(n.Enum, nil)
		}
	}
	if f.Items != nil {
		n.Items = f.Items.node()
	}
	if !f.bounded() {
		return n
	}
	low, high := &f.Min, &f.Max
	switch f.Type {
	case Integer:
		n.Minimum, n.Maximum = low, high
	case String:
		n.MinLength, n.MaxLength = low, high
	case Array:
		n.MinItems, n.MaxItems = low, high
	}
	return n
}

func (f Field) bounded() bool { return f.Min != 0 || f.Max != 0 }
