package rpc_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/surface/rpc"
)

// odd is an id every careless encoder changes.
const odd = `"<\u003c&\/>` + "\u2028" + `\ud800"`

func TestResult(t *testing.T) {
	for _, id := range []string{`1`, `""`, `9007199254740993`, odd} {
		want := `{"jsonrpc":"2.0","id":` + id + `,"result":{"a":"<b>"}}`
		if got := string(rpc.Result(json.RawMessage(id), []byte(`{"a":"<b>"}`))); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestFailure(t *testing.T) {
	base := fault.Because(errors.New("the secret cause"), fault.AuthScopeInsufficient, "Needs %s.", "a")
	for _, c := range []struct {
		name string
		id   string
		era  rpc.Era
		err  *fault.Error
		want string
	}{
		{"legacy", `1`, rpc.Legacy, base, `{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"Needs a.","data":{"code":"auth_scope_insufficient","request_id":"r"}}}`},
		{"modern", `"x"`, rpc.Modern, base, `{"jsonrpc":"2.0","id":"x","error":{"code":-31002,"message":"Needs a.","data":{"code":"auth_scope_insufficient","request_id":"r"}}}`},
		{"without an id", ``, rpc.Legacy, base, `{"jsonrpc":"2.0","error":{"code":-32002,"message":"Needs a.","data":{"code":"auth_scope_insufficient","request_id":"r"}}}`},
		{"with an id that would be escaped", odd, rpc.Legacy, base, `{"jsonrpc":"2.0","id":` + odd + `,"error":{"code":-32002,"message":"Needs a.","data":{"code":"auth_scope_insufficient","request_id":"r"}}}`},
		{"details and members of data", `1`, rpc.Legacy, base.With("required", []string{"a"}).Naming("uri", "u"),
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"Needs a.","data":{"code":"auth_scope_insufficient","details":{"required":["a"]},"request_id":"r","uri":"u"}}}`},
		{"a detail that is no JSON", `1`, rpc.Legacy, base.With("f", func() {}),
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"The error could not be written.","data":{"code":"internal_error","request_id":"r"}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var id json.RawMessage
			if c.id != "" {
				id = json.RawMessage(c.id)
			}
			if got := string(rpc.Failure(id, c.era, "r", c.err)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
