package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/surface/rpc"
	"github.com/robotmoney/mcp/shared/surface/schema"
)

// fields are those of a tool that takes one of everything.
var fields = []schema.Field{
	{Name: "text", Type: schema.String},
	{Name: "name", Type: schema.String, Min: 2, Max: 4},
	{Name: "colour", Type: schema.String, Enum: []string{"red", "green"}},
	{Name: "count", Type: schema.Integer},
	{Name: "limit", Type: schema.Integer, Min: 1, Max: 500},
	{Name: "shift", Type: schema.Integer, Min: -5, Max: 0},
	{Name: "share", Type: schema.Number},
	{Name: "flag", Type: schema.Boolean},
	{Name: "free", Type: schema.Object},
	{Name: "ref", Type: schema.Object, Fields: []schema.Field{
		{Name: "kind", Type: schema.String, Required: true, Description: "What it is."},
		{Name: "at", Type: schema.Integer, Min: 1, Max: 9},
	}},
	{Name: "words", Type: schema.Array, Min: 1, Max: 3, Items: &schema.Field{Type: schema.String, Max: 5}},
	{Name: "pairs", Type: schema.Array, Items: &schema.Field{Type: schema.Object, Fields: []schema.Field{{Name: "n", Type: schema.Integer}}}},
	{Name: "any", Type: schema.Any},
}

// show writes decoded values with their Go types, so that 1 and "1" differ.
func show(v any) string {
	switch v := v.(type) {
	case schema.Values:
		var parts []string
		for _, name := range []string{"kind", "at", "n"} {
			if member, there := v[name]; there {
				parts = append(parts, name+"="+show(member))
			}
		}
		return "{" + strings.Join(parts, " ") + "}"
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = show(v[i])
		}
		return "[" + strings.Join(parts, " ") + "]"
	case json.RawMessage:
		return "raw " + string(v)
	}
	return fmt.Sprintf("%T %v", v, v)
}

func TestDecode(t *testing.T) {
	for _, c := range []struct{ field, sent, want string }{
		{"text", `"a"`, "string a"},
		{"text", `""`, "string "},
		{"text", `"\u0041\n\ud83d\ude00"`, "string A\n😀"},
		{"text", `"{\"a\":1}"`, `string {"a":1}`},
		{"text", `"50"`, "string 50"},
		{"name", `"ab"`, "string ab"},
		{"name", `"äöüß"`, "string äöüß"}, // four characters, as the schema counts
		{"colour", `"red"`, "string red"},
		{"count", `0`, "int64 0"},
		{"count", `-3`, "int64 -3"},
		{"count", `9223372036854775807`, "int64 9223372036854775807"},
		{"limit", `1`, "int64 1"},
		{"limit", `500`, "int64 500"},
		{"limit", `"50"`, "int64 50"},
		{"limit", `"\u0035"`, "int64 5"},
		{"shift", `-5`, "int64 -5"},
		{"shift", `"0"`, "int64 0"},
		{"share", `0.5`, "float64 0.5"},
		{"share", `-1e3`, "float64 -1000"},
		{"flag", `true`, "bool true"},
		{"flag", `false`, "bool false"},
		{"free", `{"a":[1]}`, `raw {"a":[1]}`},
		{"free", `"{\"a\":[1]}"`, `raw {"a":[1]}`},
		{"free", `" {\"a\":1}\n"`, `raw {"a":1}`},
		{"ref", `{"kind":"x"}`, "{kind=string x}"},
		{"ref", `{"kind":"x","at":"3","more":1}`, "{kind=string x at=int64 3}"},
		{"ref", `"{\"kind\":\"x\",\"at\":null}"`, "{kind=string x}"},
		{"words", `["a"]`, "[string a]"},
		{"words", `"[\"a\", \"b\"]"`, "[string a string b]"},
		{"pairs", `[]`, "[]"},
		{"pairs", `[{"n":1},"{\"n\":\"2\"}",{}]`, "[{n=int64 1} {n=int64 2} {}]"},
		{"any", `[1]`, "raw [1]"},
		{"any", `"x"`, `raw "x"`},
	} {
		t.Run(c.field+" "+c.sent, func(t *testing.T) {
			got, err := schema.Decode(fields, json.RawMessage(`{"`+c.field+`": `+c.sent+`}`), false)
			must(t, err)
			equal(t, "value", show(got[c.field]), c.want)
			equal(t, "entries", len(got), 1)
		})
	}
}

// What cannot be meant is refused, in words that name the field, what it takes
// and what came.
func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct{ field, sent, says string }{
		{"text", `1`, `text: want a string, got 1.`},
		{"text", `true`, `text: want a string, got true.`},
		{"text", `["a"]`, `text: want a string, got ["a"].`},
		{"name", `"a"`, `name: want text of 2 to 4 characters, got "a".`},
		{"name", `""`, `name: want text of 2 to 4 characters, got "".`},
		{"name", `"äöüßÄ"`, `name: want text of 2 to 4 characters, got "äöüßÄ".`},
		{"colour", `"blue"`, `colour: want one of red, green, got "blue".`},
		{"colour", `"Red"`, `colour: want one of red, green, got "Red".`},
		{"colour", `""`, `colour: want one of red, green, got "".`},
		{"count", `1.5`, `count: want an integer, got 1.5.`},
		{"count", `9223372036854775808`, `count: want an integer, got 9223372036854775808.`},
		{"limit", `0`, `limit: want an integer from 1 to 500, got 0.`},
		{"limit", `501`, `limit: want an integer from 1 to 500, got 501.`},
		{"limit", `-3`, `limit: want an integer from 1 to 500, got -3.`},
		{"limit", `1.5`, `limit: want an integer from 1 to 500, got 1.5.`},
		{"limit", `1.0`, `limit: want an integer from 1 to 500, got 1.0.`},
		{"limit", `1e3`, `limit: want an integer from 1 to 500, got 1e3.`},
		{"limit", `1e2`, `limit: want an integer from 1 to 500, got 1e2.`},
		{"limit", `"050"`, `limit: want an integer from 1 to 500, got "050".`},
		{"limit", `"+5"`, `limit: want an integer from 1 to 500, got "+5".`},
		{"limit", `" 5"`, `limit: want an integer from 1 to 500, got " 5".`},
		{"limit", `"5_0"`, `limit: want an integer from 1 to 500, got "5_0".`},
		{"limit", `"0x10"`, `limit: want an integer from 1 to 500, got "0x10".`},
		{"limit", `"٥"`, `limit: want an integer from 1 to 500, got "٥".`},
		{"limit", `"ten"`, `limit: want an integer from 1 to 500, got "ten".`},
		{"limit", `""`, `limit: want an integer from 1 to 500, got "".`},
		{"limit", `true`, `limit: want an integer from 1 to 500, got true.`},
		{"limit", `[5]`, `limit: want an integer from 1 to 500, got [5].`},
		{"shift", `-0`, `shift: want an integer from -5 to 0, got -0.`},
		{"shift", `1`, `shift: want an integer from -5 to 0, got 1.`},
		{"share", `"0.5"`, `share: want a number, got "0.5".`},
		{"share", `1e999`, `share: want a number, got 1e999.`},
		{"flag", `"true"`, `flag: want true or false, got "true".`},
		{"flag", `1`, `flag: want true or false, got 1.`},
		{"free", `[1]`, `free: want an object, got [1].`},
		{"free", `"text"`, `free: want an object, got "text".`},
		{"free", `"{\"a\":1"`, `free: want an object, got "{\"a\":1".`},
		{"free", `"null"`, `free: want an object, got null.`},
		{"free", `{"a":1,"a":2}`, `free: want an object, got {"a":1,"a":2}.`},
		{"ref", `5`, `ref: want an object that names nothing twice, got 5.`},
		{"ref", `{}`, `ref.kind is required: What it is.`},
		{"ref", `{"kind":null}`, `ref.kind is required: What it is.`},
		{"ref", `{"kind":"x","at":10}`, `ref.at: want an integer from 1 to 9, got 10.`},
		{"ref", `{"kind":"x","kind":"y"}`, `ref: want an object that names nothing twice, got {"kind":"x","kind":"y"}.`},
		{"ref", `{"kind":"x","\u006bind":"y"}`, `ref: want an object that names nothing twice, got {"kind":"x","\u006bind":"y"}.`},
		{"words", `[]`, `words: want 1 to 3 items, got 0.`},
		{"words", `["a","b","c","d"]`, `words: want 1 to 3 items, got 4.`},
		{"words", `["a",1]`, `words[1]: want a string, got 1.`},
		{"words", `["a",null]`, `words[1]: want a string, got null.`},
		{"words", `["abcdef"]`, `words[0]: want text of 0 to 5 characters, got "abcdef".`},
		{"words", `{"0":"a"}`, `words: want an array, got {"0":"a"}.`},
		{"words", `"a"`, `words: want an array, got "a".`},
		{"pairs", `[{"n":1},{"n":"x"}]`, `pairs[1].n: want an integer, got "x".`},
		{"text", `[` + strings.Repeat(`"`+strings.Repeat("ä", 50)+`",`, 3) + `1]`, `text: want a string, got ["` + strings.Repeat("ä", 29) + `….`},
	} {
		t.Run(c.field+" "+c.sent, func(t *testing.T) {
			_, err := schema.Decode(fields, json.RawMessage(`{"`+c.field+`":`+c.sent+`}`), false)
			if !fault.Is(err, fault.InvalidArgument) {
				t.Fatalf("error %v", err)
			}
			equal(t, "message", fault.Of(err).Message, c.says)
		})
	}
}

func TestArgumentsAsAWhole(t *testing.T) {
	need := []schema.Field{{Name: "id", Type: schema.String, Required: true, Description: "Whose it is."}, {Name: "ref", Type: schema.Object, Fields: fields[:1]}}
	for _, c := range []struct {
		sent        string
		strict, not string // messages of a tool that writes and of one that does not; empty is accepted
	}{
		{`{"id":"a"}`, "", ""},
		{`{"id":"a","ref":null}`, "", ""},
		{`{}`, "id is required: Whose it is.", "id is required: Whose it is."},
		{`{"id":null}`, "id is required: Whose it is.", "id is required: Whose it is."},
		{`{"ID":"a"}`, "id is required: Whose it is.", "id is required: Whose it is."},
		{`{"id":"a","toolCallId":"x"}`, `"toolCallId" is no argument of this tool, which changes something and takes none it does not know. It takes: id, ref.`, ""},
		{`{"id":"a","x":null}`, `"x" is no argument of this tool, which changes something and takes none it does not know. It takes: id, ref.`, ""},
		{`{"id":"a","\n` + "`" + `":1}`, "", ""}, // see below
		{`{"id":"a","ref":{"text":"b","extra":1}}`, `"ref.extra" is no argument of this tool, which changes something and takes none it does not know. It takes: text.`, ""},
		{`{"id":"a","id":"b"}`, `arguments: want an object that names nothing twice, got {"id":"a","id":"b"}.`, `arguments: want an object that names nothing twice, got {"id":"a","id":"b"}.`},
		{`[]`, `arguments: want an object that names nothing twice, got [].`, `arguments: want an object that names nothing twice, got [].`},
		{`null`, `arguments: want an object that names nothing twice, got null.`, `arguments: want an object that names nothing twice, got null.`},
	} {
		for strict, want := range map[bool]string{true: c.strict, false: c.not} {
			_, err := schema.Decode(need, json.RawMessage(c.sent), strict)
			switch {
			case strings.Contains(c.sent, "`"): // a name that is no name is repeated on one line
				if strict && (err == nil || strings.Contains(err.Error(), "\n")) {
					t.Errorf("%s: %v", c.sent, err)
				}
			case err == nil && want != "":
				t.Errorf("%s, strict %t: accepted", c.sent, strict)
			case err != nil && fault.Of(err).Message != want:
				t.Errorf("%s, strict %t: %s", c.sent, strict, fault.Of(err).Message)
			}
		}
	}
}

func TestValues(t *testing.T) {
	got, err := schema.Decode(fields, json.RawMessage(`{"text":"a","limit":"7","flag":false,"words":["b"],"free":{}, "count":null}`), true)
	must(t, err)
	equal(t, "text", got.Text("text"), "a")
	equal(t, "no text", got.Text("name"), "")
	equal(t, "integer", got.Int("limit", 50), 7)
	equal(t, "no integer", got.Int("count", 50), 50)
	equal(t, "boolean", got.Bool("flag", true), false)
	equal(t, "no boolean", got.Bool("other", true), true)
	equal(t, "list", len(got.List("words")), 1)
	equal(t, "no list", len(got.List("pairs")), 0)
	equal(t, "object", string(got.Raw("free")), "{}")
	equal(t, "no object", got.Raw("ref") == nil, true)
}

// Whatever JSON comes, it is read or refused, and reading it strictly never
// gives more than reading it otherwise.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"limit":"50","ref":"{\"kind\":\"x\"}","words":["a"],"any":null}`, `{"pairs":"[{\"n\":1}]","free":{"a":{}}}`,
		`{"text":"\ud800","name":"\u0000\u0000","limit":1e3}`, `{"a":1,"a":2}`, `[[[[]]]]`, `{"ref":"\"{}\""}`, `{"words":"[\"\\ud800\"]"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if rpc.Check(raw) != nil {
			return
		}
		loose, looseErr := schema.Decode(fields, raw, false)
		strict, strictErr := schema.Decode(fields, raw, true)
		for _, err := range []error{looseErr, strictErr} {
			if err != nil && !fault.Is(err, fault.InvalidArgument) {
				t.Fatalf("%q: %v", raw, err)
			}
		}
		if strictErr == nil && (looseErr != nil || show(loose["ref"]) != show(strict["ref"]) || len(loose) != len(strict)) {
			t.Fatalf("%q: strict %v, otherwise %v, %v", raw, strict, loose, looseErr)
		}
		if n, there := loose["limit"]; there && (n.(int64) < 1 || n.(int64) > 500) {
			t.Fatalf("%q: limit %v", raw, n)
		}
		if list := loose.List("words"); list != nil && (len(list) < 1 || len(list) > 3) {
			t.Fatalf("%q: %d words", raw, len(list))
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}
