package rpc_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/surface/rpc"
)

// nested is a message whose params bring the whole to a depth.
func nested(depth int) string {
	inner := depth - 2 // the envelope and the params
	return `{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":` + strings.Repeat("[", inner) + strings.Repeat("]", inner) + `}}`
}

// verdict is the code of what is wrong with a body that holds one message.
func verdict(env rpc.Envelope) fault.Code {
	switch {
	case env.Err != nil:
		return env.Err.Code
	case env.First().Err != nil:
		return env.First().Err.Code
	}
	return ""
}

func TestParseJudgesOneMessage(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       fault.Code
		id         string // as it is echoed; empty is none
	}{
		{"a request", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "", `1`},
		{"blanks around it", " \t\r\n{ \"jsonrpc\" : \"2.0\" , \"id\" : 1 , \"method\" : \"ping\" } \n", "", `1`},
		{"params", `{"jsonrpc":"2.0","id":1,"method":"m","params":{}}`, "", `1`},
		{"a foreign member", `{"jsonrpc":"2.0","id":1,"method":"m","extra":[1,{"a":1}]}`, "", `1`},
		{"no id", `{"jsonrpc":"2.0","method":"m"}`, "", ``},

		{"empty", ``, rpc.ParseError, ``},
		{"blank", " \n", rpc.ParseError, ``},
		{"cut short", `{"jsonrpc":"2.0","id":1,"method":"m"`, rpc.ParseError, ``},
		{"something after it", `{"jsonrpc":"2.0","id":1,"method":"m"}{}`, rpc.ParseError, ``},
		{"a trailing comma", `{"jsonrpc":"2.0","id":1,"method":"m",}`, rpc.ParseError, ``},
		{"a comment", `{"jsonrpc":"2.0","id":1,"method":"m"}//`, rpc.ParseError, ``},
		{"single quotes", `{'jsonrpc':'2.0'}`, rpc.ParseError, ``},
		{"a byte order mark", "\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"m"}`, rpc.ParseError, ``},
		{"UTF-16", "{\x00\"\x00}\x00", rpc.ParseError, ``},
		{"invalid UTF-8 in a value", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\xff\"}", rpc.ParseError, ``},
		{"invalid UTF-8 in a name", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"\xc3\":1}", rpc.ParseError, ``},
		{"a surrogate encoded as UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":\"\xed\xa0\x80\",\"method\":\"m\"}", rpc.ParseError, ``},
		{"a raw line break in a string", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\n\"}", rpc.ParseError, ``},
		{"depth 64", nested(64), "", `1`},
		{"depth 65", nested(65), rpc.ParseError, ``},
		{"brackets in a string are no depth", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":"` + strings.Repeat(`[{\"`, 100) + `"}}`, "", `1`},
		{"a bomb", strings.Repeat("[", 1<<20), rpc.ParseError, ``},
		{"an unbalanced bomb", strings.Repeat("}", 100) + strings.Repeat("[", 1000), rpc.ParseError, ``},

		{"jsonrpc twice", `{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"m"}`, rpc.ParseError, ``},
		{"id twice", `{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}`, rpc.ParseError, ``},
		{"method twice", `{"jsonrpc":"2.0","id":1,"method":"m","method":"n"}`, rpc.ParseError, ``},
		{"method twice, once escaped", `{"jsonrpc":"2.0","id":1,"method":"m","\u006dethod":"n"}`, rpc.ParseError, ``},
		{"a foreign name twice", `{"jsonrpc":"2.0","id":1,"method":"m","x":1,"x":1}`, rpc.ParseError, ``},
		{"a name twice in params", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"name":"a","name":"b"}}`, rpc.ParseError, ``},
		{"a name twice in _meta", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"v":1,"v":2}}}`, rpc.ParseError, ``},
		{"a name twice below is the callee's", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"arguments":{"a":1,"a":2}}}`, "", `1`},
		{"the empty name twice", `{"jsonrpc":"2.0","id":1,"method":"m","":1,"":2}`, rpc.ParseError, ``},
		{"another case is another name", `{"jsonrpc":"2.0","id":1,"method":"m","Method":"n","METHOD":"o"}`, "", `1`},

		{"no object: a string", `"m"`, rpc.InvalidRequest, ``},
		{"no object: a number", `1`, rpc.InvalidRequest, ``},
		{"no object: null", `null`, rpc.InvalidRequest, ``},
		{"no object: true", `true`, rpc.InvalidRequest, ``},
		{"an empty object", `{}`, rpc.InvalidRequest, ``},
		{"no jsonrpc", `{"id":1,"method":"m"}`, rpc.InvalidRequest, `1`},
		{"jsonrpc 1.0", `{"jsonrpc":"1.0","id":1,"method":"m"}`, rpc.InvalidRequest, `1`},
		{"jsonrpc a number", `{"jsonrpc":2.0,"id":1,"method":"m"}`, rpc.InvalidRequest, `1`},
		{"jsonrpc in another case", `{"JSONRPC":"2.0","id":1,"method":"m"}`, rpc.InvalidRequest, `1`},
		{"jsonrpc escaped", `{"json\u0072pc":"2\u002e0","id":1,"method":"m"}`, "", `1`},
		{"no method", `{"jsonrpc":"2.0","id":1}`, rpc.InvalidRequest, `1`},
		{"a response", `{"jsonrpc":"2.0","id":1,"result":{}}`, rpc.InvalidRequest, `1`},
		{"an empty method", `{"jsonrpc":"2.0","id":1,"method":""}`, rpc.InvalidRequest, `1`},
		{"a method that is no string", `{"jsonrpc":"2.0","id":1,"method":1}`, rpc.InvalidRequest, `1`},
		{"a method in another case", `{"jsonrpc":"2.0","id":1,"Method":"m"}`, rpc.InvalidRequest, `1`},
		{"no method and no id is no notification", `{"jsonrpc":"2.0"}`, rpc.InvalidRequest, ``},
		{"params an array", `{"jsonrpc":"2.0","id":1,"method":"m","params":[]}`, rpc.InvalidRequest, `1`},
		{"params null", `{"jsonrpc":"2.0","id":1,"method":"m","params":null}`, rpc.InvalidRequest, `1`},
		{"params text", `{"jsonrpc":"2.0","id":1,"method":"m","params":"{}"}`, rpc.InvalidRequest, `1`},
		{"params an array, without an id", `{"jsonrpc":"2.0","method":"m","params":[1]}`, rpc.InvalidRequest, ``},
		{"_meta that is no object is nobody's concern", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":5}}`, "", `1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := rpc.Parse([]byte(c.body))
			if got := verdict(env); got != c.want {
				t.Errorf("code %q, want %q", got, c.want)
			}
			if got := string(env.First().ID); got != c.id {
				t.Errorf("id %s, want %s", got, c.id)
			}
		})
	}
}

func TestParseTakesIDsAsTheyCome(t *testing.T) {
	for _, c := range []struct {
		id   string
		good bool
	}{
		{`0`, true}, {`-0`, true}, {`-1`, true}, {`9007199254740993`, true}, {strings.Repeat("9", 400), true},
		{`""`, true}, {`"a"`, true}, {`"1.0"`, true}, {`"null"`, true}, {`"\u0000"`, true}, {`"\ud800"`, true}, {`"<&>` + "\u2028" + `"`, true},
		{`1.0`, false}, {`1.5`, false}, {`1e3`, false}, {`1E3`, false}, {`-1e-1`, false},
		{`null`, false}, {`true`, false}, {`false`, false}, {`{}`, false}, {`[]`, false}, {`[1]`, false}, {`{"id":1}`, false},
	} {
		msg := rpc.Parse([]byte(`{"jsonrpc":"2.0","id":` + c.id + `,"method":"m"}`)).First()
		switch {
		case c.good && (msg.Err != nil || string(msg.ID) != c.id):
			t.Errorf("id %s: read as %s, %v", c.id, msg.ID, msg.Err)
		case !c.good && (msg.ID != nil || msg.Err == nil || msg.Err.Code != rpc.InvalidRequest):
			t.Errorf("id %s: read as %s, %v; want invalid_request without an id", c.id, msg.ID, msg.Err)
		case !c.good && msg.Notification():
			t.Errorf("id %s: taken for a notification", c.id)
		}
	}
}

func TestParseReadsWhatTheMessageSays(t *testing.T) {
	msg := rpc.Parse([]byte(`{"params":{"_meta":{"k":"\u0076"},"na\u006de":"a\"b","Name":"other"},"\u006dethod":"tools\/call","id":"x","jsonrpc":"2.0"}`)).First()
	if msg.Err != nil {
		t.Fatal(msg.Err)
	}
	if msg.Method != "tools/call" {
		t.Errorf("method %q", msg.Method)
	}
	if name, ok := msg.Params.Text("name"); !ok || name != `a"b` {
		t.Errorf("params.name %q, %v", name, ok)
	}
	if v, ok := msg.Meta.Text("k"); !ok || v != "v" {
		t.Errorf("_meta.k %q, %v", v, ok)
	}
	if _, ok := msg.Params.Text("_meta"); ok {
		t.Error("an object is read as a string")
	}
	if _, ok := msg.Params.Text("absent"); ok {
		t.Error("an absent member is read as a string")
	}
	if msg.Notification() {
		t.Error("a request is taken for a notification")
	}
	if !rpc.Parse([]byte(`{"jsonrpc":"2.0","method":"m"}`)).First().Notification() {
		t.Error("a message without an id is no notification")
	}
}

func TestParseBatches(t *testing.T) {
	const one = `{"jsonrpc":"2.0","id":1,"method":"m"}`
	many := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + "]" }
	for _, c := range []struct {
		name, body string
		want       fault.Code
		messages   int
	}{
		{"none", `[]`, rpc.InvalidRequest, 0},
		{"one", many(1), "", 1},
		{"blanks", "[ " + one + " ,\n" + one + " ]", "", 2},
		{"fifty", many(50), "", 50},
		{"fifty-one", many(51), rpc.InvalidRequest, 0},
		{"a name twice in one", `[` + one + `,{"jsonrpc":"2.0","id":2,"id":3,"method":"m"}]`, rpc.ParseError, 0},
		{"things that are no messages", `[1,"a",null,[],{}]`, "", 5},
		{"cut short", `[` + one, rpc.ParseError, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := rpc.Parse([]byte(c.body))
			if got := verdict(env); got != c.want || len(env.Messages) != c.messages {
				t.Fatalf("code %q and %d messages, want %q and %d", got, len(env.Messages), c.want, c.messages)
			}
			if c.want != rpc.ParseError && !env.Batch {
				t.Error("not taken for a batch")
			}
			if first := env.First(); first.ID != nil || first.Method != "" {
				t.Errorf("a refusal of the batch would answer %s", first.ID)
			}
		})
	}
	for i, msg := range rpc.Parse([]byte(`[1,"a",null,[],{}]`)).Messages {
		if msg.Err == nil || msg.Err.Code != rpc.InvalidRequest || msg.Notification() {
			t.Errorf("element %d: %v", i, msg.Err)
		}
	}
}

// A stranger may send 4 MiB before anybody asks for a token: every object must
// be read in time that grows with its length alone.
func TestParseTakesManyNamesInLittleTime(t *testing.T) {
	var body strings.Builder
	body.WriteString(`{"jsonrpc":"2.0","id":1,"method":"m"`)
	for i := 0; body.Len() < 4<<20; i++ {
		fmt.Fprintf(&body, `,"%d":0`, i)
	}
	names := body.String()
	began := time.Now()
	if got := verdict(rpc.Parse([]byte(names + `}`))); got != "" {
		t.Errorf("refused as %s", got)
	}
	if got := verdict(rpc.Parse([]byte(names + `,"7":0}`))); got != rpc.ParseError {
		t.Errorf("a name that stands twice among many: %q", got)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("took %s", took)
	}
}
