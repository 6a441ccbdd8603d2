package rpc_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/robotmoney/mcp/shared/surface/rpc"
)

var seeds = []string{
	`{"jsonrpc":"2.0","id":1,"method":"ping"}`,
	`{"jsonrpc":"2.0","id":"a\"b","method":"tools/call","params":{"name":"x","arguments":{"a":[1,{"b":"]"}]},"_meta":{"k":"v"}}}`,
	`[{"jsonrpc":"2.0","method":"m"},{}]`,
	`{"a":1,"\u0061":2}`, `{"":{},"":[]}`, `{"\ud800":1,"\ud801":2}`, "\ufeff{}", "{\"a\":\"\xff\"}", ` { } `, `{"a" : -1.5e+3 ,"b":true}`,
	`{"id":1.0}`, `null`, `"\\"`, `{"a":"\\"}`, `[[[[`, `}{`, ``,
}

// member is a member as encoding/json reads it.
type member struct{ name, value string }

// reference reads an object with encoding/json's tokens, the reader ours is held
// against.
func reference(raw []byte) (members []member, object, unique bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, false, false
	}
	seen := map[string]bool{}
	unique = true
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, false, false
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, false, false
		}
		text := name.(string)
		unique = unique && !seen[text]
		seen[text] = true
		members = append(members, member{text, string(value)})
	}
	return members, true, unique
}

// depth is how deep valid JSON nests, counted by encoding/json's tokens.
func depth(raw []byte) int {
	dec := json.NewDecoder(bytes.NewReader(raw))
	now, most := 0, 0
	for {
		token, err := dec.Token()
		if err != nil {
			return most
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			now++
			most = max(most, now)
		case json.Delim('}'), json.Delim(']'):
			now--
		}
	}
}

func FuzzObject(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		accepted := rpc.Check(raw) == nil
		if want := json.Valid(raw) && utf8.Valid(raw) && depth(raw) <= 64; accepted != want {
			t.Fatalf("Check accepts: %v, want %v", accepted, want)
		}
		if !accepted {
			return
		}
		members, object, unique := reference(raw)
		got, isObject, err := rpc.ParseObject(raw)
		switch {
		case isObject != object:
			t.Fatalf("an object: %v, want %v", isObject, object)
		case object && (err == nil) != unique:
			t.Fatalf("error %v, names unique: %v", err, unique)
		case !object || !unique:
			return
		case len(got) != len(members):
			t.Fatalf("%d members, want %d", len(got), len(members))
		}
		for i, want := range members {
			if got[i].Name != want.name || string(got[i].Value) != want.value {
				t.Errorf("member %d: %q: %s, want %q: %s", i, got[i].Name, got[i].Value, want.name, want.value)
			}
			if string(got.Get(want.name)) != want.value {
				t.Errorf("Get(%q) = %s", want.name, got.Get(want.name))
			}
			sameText(t, got[i].Value)
		}
	})
}

// sameText holds that Text reads a value as encoding/json does.
func sameText(t *testing.T, raw json.RawMessage) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // a number may be beyond a float and is JSON all the same
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("a value that is no JSON: %s", raw)
	}
	want, isText := value.(string)
	if got, ok := rpc.Text(raw); ok != isText || got != want {
		t.Errorf("Text(%s) = %q, %v; want %q, %v", raw, got, ok, want, isText)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		env := rpc.Parse(body)
		if env.Err == nil && (len(env.Messages) == 0 || (!env.Batch && len(env.Messages) != 1)) {
			t.Fatalf("no error and %d messages", len(env.Messages))
		}
		if rpc.Check(body) != nil && (env.Err == nil || env.Err.Code != rpc.ParseError) {
			t.Fatalf("unreadable, and the error is %v", env.Err)
		}
		if env.Err != nil {
			return
		}
		for _, msg := range env.Messages {
			if msg.ID != nil && !(json.Valid(msg.ID) && (msg.ID[0] == '"' || !bytes.ContainsAny(msg.ID, ".eE{[tfn"))) {
				t.Errorf("id %s", msg.ID)
			}
			if msg.Err == nil && msg.Method == "" {
				t.Error("a request without a method")
			}
		}
		if !env.Batch {
			sameMessage(t, body, env.First())
		}
	})
}

// sameMessage holds one message against its reading by encoding/json.
func sameMessage(t *testing.T, body []byte, msg rpc.Message) {
	t.Helper()
	members, object, unique := reference(body)
	if !object || !unique {
		if msg.Err == nil {
			t.Error("accepted, and it is no object with unique names")
		}
		return
	}
	said := map[string]string{}
	for _, m := range members {
		said[m.name] = m.value
	}
	if msg.Err == nil {
		var version, method string
		_ = json.Unmarshal([]byte(said["jsonrpc"]), &version)
		_ = json.Unmarshal([]byte(said["method"]), &method)
		if version != "2.0" || method != msg.Method || string(msg.ID) != said["id"] {
			t.Errorf("read as %q with id %s out of %s", msg.Method, msg.ID, body)
		}
	}
	params, _, _ := reference([]byte(said["params"]))
	if len(params) != len(msg.Params) {
		t.Errorf("%d params, want %d", len(msg.Params), len(params))
	}
}
