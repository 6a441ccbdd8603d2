// Package schema declares what a tool takes and gives, once: the JSON schema a
// client sees and the reading of what it sends come from the same fields.
package schema

import (
	"encoding/json"
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
	Min, Max    int64  // of an integer; of a string's bytes; of an array's items. Both 0: no bound
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
	Type        any             `json:"type"`
	Description string          `json:"description,omitempty"`
	Properties  json.RawMessage `json:"properties,omitempty"`
	Required    []string        `json:"required,omitempty"`
	Items       *node           `json:"items,omitempty"`
	Enum        []any           `json:"enum,omitempty"`
	Format      string          `json:"format,omitempty"`
	Minimum     *int64          `json:"minimum,omitempty"`
	Maximum     *int64          `json:"maximum,omitempty"`
	MinLength   *int64          `json:"minLength,omitempty"`
	MaxLength   *int64          `json:"maxLength,omitempty"`
	MinItems    *int64          `json:"minItems,omitempty"`
	MaxItems    *int64          `json:"maxItems,omitempty"`
	Default     any             `json:"default,omitempty"`
}

func object(fields []Field) *node {
	n := &node{Type: Object}
	properties := []byte{'{'}
	for i, f := range fields {
		if i > 0 {
			properties = append(properties, ',')
		}
		name, _ := json.Marshal(f.Name)
		body, err := json.Marshal(f.node())
		if err != nil {
			body = []byte("{}")
		}
		properties = append(append(append(properties, name...), ':'), body...)
		if f.Required {
			n.Required = append(n.Required, f.Name)
		}
	}
	n.Properties = append(properties, '}')
	return n
}

func (f Field) node() *node {
	n := &node{Type: f.Type}
	if f.Type == Object && f.Fields != nil {
		n = object(f.Fields)
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
	if f.Min == 0 && f.Max == 0 {
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
