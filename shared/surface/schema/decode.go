package schema

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/surface/rpc"
)

// Values are a call's arguments by name, each of its declared type: string,
// int64, bool, Values, []any, or json.RawMessage for an object without declared
// members and for what may be anything. An absent argument, and one sent as
// null, has no entry.
type Values map[string]any

// Text returns a string argument, empty when absent.
func (v Values) Text(name string) string { s, _ := v[name].(string); return s }

// Int returns an integer argument, or what an absent one means.
func (v Values) Int(name string, absent int) int {
	if n, ok := v[name].(int64); ok {
		return int(n)
	}
	return absent
}

// Bool returns a boolean argument, or what an absent one means.
func (v Values) Bool(name string, absent bool) bool {
	if b, ok := v[name].(bool); ok {
		return b
	}
	return absent
}

// List returns an array argument, nil when absent.
func (v Values) List(name string) []any { l, _ := v[name].([]any); return l }

// Raw returns an object argument, or one that may be anything, as it came; nil
// when absent.
func (v Values) Raw(name string) json.RawMessage { r, _ := v[name].(json.RawMessage); return r }

// Decode reads a call's arguments. Hosts send integers as decimal text and
// objects or arrays as JSON text; both are read as what they stand for, and
// nothing else is bent. Unknown arguments are refused where strict, as on
// tools that write: there a misspelt one must not be lost. Errors have the code
// invalid_argument and name the field, what was expected and what came. raw is
// JSON that rpc.Check has accepted.
func Decode(fields []Field, raw json.RawMessage, strict bool) (Values, error) {
	return decode("", fields, raw, strict)
}

func decode(path string, fields []Field, raw json.RawMessage, strict bool) (Values, error) {
	object, isObject, err := rpc.ParseObject(raw)
	if err != nil || !isObject {
		return nil, wrong(path, "an object that names nothing twice", raw)
	}
	values := Values{}
	for _, f := range fields {
		value := object.Get(f.Name)
		if value == nil || string(value) == "null" {
			if f.Required {
				return nil, fault.New(fault.InvalidArgument, "%s is required: %s", path+f.Name, f.Description)
			}
			continue
		}
		if values[f.Name], err = f.decode(path+f.Name, value, strict); err != nil {
			return nil, err
		}
	}
	if !strict {
		return values, nil
	}
	for _, member := range object {
		if !slices.ContainsFunc(fields, func(f Field) bool { return f.Name == member.Name }) {
			return nil, fault.New(fault.InvalidArgument, "%s is no argument of this tool, which changes something and takes none it does not know. It takes: %s.", cut(strconv.Quote(path+member.Name)), names(fields))
		}
	}
	return values, nil
}

func (f Field) decode(path string, raw json.RawMessage, strict bool) (any, error) {
	switch f.Type {
	case String:
		return f.text(path, raw)
	case Integer:
		return f.integer(path, raw)
	case Boolean:
		if s := string(raw); s == "true" || s == "false" {
			return s == "true", nil
		}
		return nil, wrong(path, "true or false", raw)
	case Number:
		if n, err := strconv.ParseFloat(string(raw), 64); err == nil && raw[0] != '"' {
			return n, nil
		}
		return nil, wrong(path, "a number", raw)
	case Object:
		raw = unquote(raw)
		if f.Fields != nil {
			return decode(path+".", f.Fields, raw, strict)
		}
		if _, isObject, err := rpc.ParseObject(raw); err != nil || !isObject {
			return nil, wrong(path, "an object", raw)
		}
		return raw, nil
	case Array:
		return f.array(path, unquote(raw), strict)
	case Any:
		return raw, nil
	}
	return nil, fault.New(fault.Internal, "A field of the tool has no type.")
}

func (f Field) text(path string, raw json.RawMessage) (any, error) {
	s, ok := rpc.Text(raw)
	switch {
	case !ok:
		return nil, wrong(path, "a string", raw)
	case f.Enum != nil && !slices.Contains(f.Enum, s):
		return nil, wrong(path, "one of "+strings.Join(f.Enum, ", "), raw)
	case !f.holds(int64(utf8.RuneCountInString(s))):
		return nil, wrong(path, "text of "+f.bounds()+" characters", raw)
	}
	return s, nil
}

// integer reads a JSON integer or the same digits as text. A fraction, an
// exponent or a sign in front of zero is not what somebody meant by a count.
func (f Field) integer(path string, raw json.RawMessage) (any, error) {
	digits, quoted := rpc.Text(raw)
	if !quoted {
		digits = string(raw)
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err == nil && strconv.FormatInt(n, 10) == digits && f.holds(n) {
		return n, nil
	}
	want := "an integer"
	if f.bounded() {
		want += " from " + f.bounds()
	}
	return nil, wrong(path, want, raw)
}

func (f Field) array(path string, raw json.RawMessage, strict bool) (any, error) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil, wrong(path, "an array", raw)
	}
	elements := rpc.ParseArray(raw)
	if !f.holds(int64(len(elements))) {
		return nil, fault.New(fault.InvalidArgument, "%s: want %s items, got %d.", path, f.bounds(), len(elements))
	}
	list := make([]any, 0, len(elements))
	for i, element := range elements {
		value, err := f.Items.decode(path+"["+strconv.Itoa(i)+"]", element, strict)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	return list, nil
}

// unquote reads JSON that was sent as text; other values stay as they are.
func unquote(raw json.RawMessage) json.RawMessage {
	inner, ok := rpc.Text(raw)
	if !ok || rpc.Check([]byte(inner)) != nil {
		return raw
	}
	return json.RawMessage(strings.TrimSpace(inner))
}

// holds says whether a number, or the length of something, is within bounds.
func (f Field) holds(n int64) bool { return !f.bounded() || n >= f.Min && n <= f.Max }

func (f Field) bounds() string {
	return strconv.FormatInt(f.Min, 10) + " to " + strconv.FormatInt(f.Max, 10)
}

func wrong(path, want string, got json.RawMessage) error {
	if path = strings.TrimSuffix(path, "."); path == "" {
		path = "arguments"
	}
	return fault.New(fault.InvalidArgument, "%s: want %s, got %s.", path, want, cut(string(got)))
}

// cut keeps what came short enough for a message.
func cut(text string) string {
	const enough = 60
	if len(text) <= enough {
		return text
	}
	return strings.ToValidUTF8(text[:enough], "") + "…"
}

func names(fields []Field) string {
	list := make([]string, len(fields))
	for i, f := range fields {
		list[i] = f.Name
	}
	return strings.Join(list, ", ")
}
