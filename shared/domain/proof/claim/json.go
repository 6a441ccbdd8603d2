package claim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how deep objects and lists may lie in each other. An event has at
// most 64 levels, and lies inside an entry.
const maxDepth = 80

// Parse reads one JSON text as maps, slices, strings, booleans, nil and
// json.Number. It refuses whatever two readers may take differently, or would
// replace without a word: bytes that are not UTF-8, a name twice in one object,
// half a surrogate pair, a whole number that a double cannot hold.
func Parse(raw []byte) (any, error) {
	switch {
	case !utf8.Valid(raw):
		return nil, errors.New("the text is not UTF-8")
	case !json.Valid(raw):
		return nil, errors.New("the text is not one JSON value")
	case halfPair(raw):
		return nil, errors.New("the text has half a surrogate pair")
	}
	p := &parser{json.NewDecoder(bytes.NewReader(raw))}
	p.UseNumber()
	return p.value(0)
}

// ParseObject is Parse of what must be an object.
func ParseObject(raw []byte) (map[string]any, error) {
	v, err := Parse(raw)
	if err != nil {
		return nil, err
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("the JSON value is no object")
	}
	return object, nil
}

type parser struct{ *json.Decoder }

// value reads the value that comes.
func (p *parser) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("the JSON is deeper than %d levels", maxDepth)
	}
	token, err := p.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Number:
		_, err := number(token)
		return token, err
	case json.Delim:
		if token == '[' {
			return p.list(depth)
		}
		return p.object(depth)
	}
	return token, nil
}

func (p *parser) list(depth int) (any, error) {
	list := []any{}
	for p.More() {
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := p.Token()
	return list, err
}

func (p *parser) object(depth int) (any, error) {
	object := map[string]any{}
	for p.More() {
		token, err := p.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string) // the grammar was checked
		if _, twice := object[name]; twice {
			return nil, fmt.Errorf("the name %.40q is twice in one object", name)
		}
		if object[name], err = p.value(depth + 1); err != nil {
			return nil, err
		}
	}
	_, err := p.Token()
	return object, err
}

// halfPair says whether a valid JSON text has a surrogate without its other
// half, which encoding/json replaces. Backslashes stand in strings alone.
func halfPair(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++
		if raw[i] != 'u' {
			continue
		}
		r := escaped(raw[i+1:])
		i += 4
		if !utf16.IsSurrogate(r) {
			continue
		}
		rest := raw[i+1:]
		if len(rest) < 6 || rest[0] != '\\' || rest[1] != 'u' || utf16.DecodeRune(r, escaped(rest[2:])) == utf8.RuneError {
			return true
		}
		i += 6
	}
	return false
}

// escaped is the number of four hexadecimal digits.
func escaped(digits []byte) rune {
	n, _ := strconv.ParseUint(string(digits[:4]), 16, 32)
	return rune(n)
}

// maxWhole is 2^53: above it neighbours become one double. From 1e21 on nobody
// takes what is written for a whole number.
const maxWhole = 1 << 53

// number writes a number as RFC 8785 does.
func number(n json.Number) (string, error) {
	f, err := n.Float64()
	if err != nil {
		return "", fmt.Errorf("the number %.40s is beyond what a double holds", n)
	}
	if size := math.Abs(f); size >= maxWhole && size < 1e21 { // all doubles there are whole
		if exact, ok := new(big.Rat).SetString(n.String()); !ok || size > maxWhole || exact.Cmp(new(big.Rat).SetFloat64(f)) != 0 {
			return "", fmt.Errorf("the whole number %.40s would be rounded", n)
		}
	}
	if f == 0 {
		return "0", nil // minus zero too
	}
	text, err := json.Marshal(f) // the shortest that reads back, as in ECMAScript
	return string(text), err
}

// Canonical writes what Parse read, or plain Go values of the same kinds, in the
// form of RFC 8785. Two values are the same if and only if their forms are.
func Canonical(v any) ([]byte, error) {
	var out bytes.Buffer
	if err := write(&out, v); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func write(out *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case nil:
		out.WriteString("null")
	case bool:
		out.WriteString(strconv.FormatBool(v))
	case string:
		quote(out, v)
	case json.Number:
		text, err := number(v)
		out.WriteString(text)
		return err
	case []any:
		return writeList(out, v)
	case map[string]any:
		return writeObject(out, v)
	default:
		return fmt.Errorf("%T has no canonical form", v)
	}
	return nil
}

func writeList(out *bytes.Buffer, list []any) error {
	out.WriteByte('[')
	for i, v := range list {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := write(out, v); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	return nil
}

func writeObject(out *bytes.Buffer, object map[string]any) error {
	names := slices.SortedFunc(maps.Keys(object), func(a, b string) int {
		return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
	})
	out.WriteByte('{')
	for i, name := range names {
		if i > 0 {
			out.WriteByte(',')
		}
		quote(out, name)
		out.WriteByte(':')
		if err := write(out, object[name]); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

// letters are the control characters that have one, and what must be escaped.
var letters = map[byte]byte{'\b': 'b', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r', '"': '"', '\\': '\\'}

func quote(out *bytes.Buffer, text string) {
	out.WriteByte('"')
	from := 0 // what is not written yet
	for i := range len(text) {
		c := text[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		out.WriteString(text[from:i])
		from = i + 1
		if letter, has := letters[c]; has {
			out.WriteByte('\\')
			out.WriteByte(letter)
		} else {
			fmt.Fprintf(out, `\u%04x`, c)
		}
	}
	out.WriteString(text[from:])
	out.WriteByte('"')
}

// Same says whether two values, as Parse reads them, have one canonical form.
func Same(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		other, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, other, Same)
	case []any:
		other, ok := b.([]any)
		return ok && slices.EqualFunc(a, other, Same)
	case json.Number:
		other, ok := b.(json.Number)
		if !ok || a == other {
			return ok
		}
		x, errX := number(a)
		y, errY := number(other)
		return errX == nil && errY == nil && x == y
	}
	switch b.(type) {
	case map[string]any, []any, json.Number:
		return false // and not to be compared with ==
	}
	return a == b
}

// tree turns a Go value into what Parse reads.
func tree(v any) (any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return Parse(raw)
}
