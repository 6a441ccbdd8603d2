package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// maxDepth is how deep a message may nest. Nothing the surface takes needs
// more, and every later parser may recurse without fear.
const maxDepth = 64

// Member is one name and value of a JSON object. Value is the text as it came.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Object is a JSON object read without loss: names exactly as written (case
// matters, and encoding/json would not mind), values untouched, no name twice.
type Object []Member

// Get returns the value under a name, nil when there is none.
func (o Object) Get(name string) json.RawMessage {
	for i := range o {
		if o[i].Name == name {
			return o[i].Value
		}
	}
	return nil
}

// Text returns the string under a name, and false when there is none or it is
// something else.
func (o Object) Text(name string) (string, bool) { return Text(o.Get(name)) }

// Text reads a JSON string.
func Text(raw json.RawMessage) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), true
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// Check says whether raw is one JSON value in valid UTF-8 that nests no deeper
// than 64 and has nothing after it.
func Check(raw []byte) error {
	if !utf8.Valid(raw) {
		return errors.New("not valid UTF-8")
	}
	depth, quoted, escaped := 0, false, false
	for _, c := range raw {
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped = c == '\\'
			quoted = c != '"'
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return fmt.Errorf("nested deeper than %d", maxDepth)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	if !json.Valid(raw) {
		return errors.New("not valid JSON")
	}
	return nil
}

// errDuplicate says that a name stands twice in one object: two readers could
// act on different ones.
var errDuplicate = errors.New("a name stands twice in one object")

// ParseObject splits an object that Check accepted into its members. It returns
// false when raw is another kind of value.
func ParseObject(raw []byte) (Object, bool, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' {
		return nil, false, nil
	}
	members := make(Object, 0, 4) // an envelope's; most objects have no more
	var seen map[string]bool
	for rest := raw[1:]; ; {
		rest = bytes.TrimLeft(rest, " \t\r\n,")
		if rest[0] == '}' {
			return members, true, nil
		}
		quoted := rest[:end(rest)]
		name, ok := Text(json.RawMessage(quoted))
		if !ok {
			return nil, true, errors.New("a name that cannot be read")
		}
		rest = bytes.TrimLeft(rest[len(quoted):], " \t\r\n:")
		value := rest[:end(rest)]
		rest = rest[len(value):]
		if len(members) == few {
			seen = members.names()
		}
		if seen[name] || (seen == nil && members.Get(name) != nil) {
			return nil, true, errDuplicate
		}
		members = append(members, Member{name, json.RawMessage(value)})
		if seen != nil {
			seen[name] = true
		}
	}
}

// few is how many members are looked through one by one for a name. Beyond it a
// set does: strangers may send megabytes of names, and looking through them all
// for each would take minutes.
const few = 16

func (o Object) names() map[string]bool {
	names := make(map[string]bool, 2*len(o))
	for _, member := range o {
		names[member.Name] = true
	}
	return names
}

// ParseArray splits an array that Check accepted into its elements.
func ParseArray(raw []byte) []json.RawMessage {
	var elements []json.RawMessage
	for rest := bytes.TrimSpace(raw)[1:]; ; {
		rest = bytes.TrimLeft(rest, " \t\r\n,")
		if rest[0] == ']' {
			return elements
		}
		element := rest[:end(rest)]
		rest = rest[len(element):]
		elements = append(elements, json.RawMessage(element))
	}
}

// end returns the length of the value at the start of valid JSON text.
func end(text []byte) int {
	depth, quoted, escaped := 0, false, false
	for i, c := range text {
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped = c == '\\'
			if quoted = c != '"'; !quoted && depth == 0 {
				return i + 1
			}
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
			if depth < 0 {
				return i
			}
		case depth == 0 && (c == ',' || c == ' ' || c == '\t' || c == '\r' || c == '\n'):
			return i
		}
	}
	return len(text)
}
