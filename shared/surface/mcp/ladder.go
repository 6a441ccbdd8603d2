package mcp

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/surface/catalog"
	"github.com/robotmoney/mcp/shared/surface/rpc"
)

// The members of _meta that a modern request speaks through.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaServer       = "io.modelcontextprotocol/serverInfo"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
	metaProgress     = "progressToken" // in both eras
	metaTrace        = "traceparent"   // in both eras; a reserved name without a prefix
)

// exchange is one message on its way down the ladder and what is known of it.
type exchange struct {
	Request
	msg     rpc.Message
	era     rpc.Era
	method  method
	silent  bool         // a notification: no answer, no event
	refused *fault.Error // a tool's refusal that is sent as a result
	notes   [][]byte     // notifications that go before the result

	// What the message names, found without reading any data. Each is nil where
	// the method names none or the name is unknown.
	tool     *catalog.Tool
	prompt   *catalog.Prompt
	resource *catalog.Target
	template *catalog.Template
}

// ladder is what a message meets after the edge has let its request through,
// in this order. The first rung with an error ends it. The edge's ladder has the
// rungs before: a number here is the rung's place in the whole.
var ladder = []struct {
	rung  string
	judge func(*Dispatcher, *exchange) error
}{
	{"9-10 it can be read and is a request", (*Dispatcher).readable},
	{"11 a notification gets no answer", (*Dispatcher).notification},
	{"12 a modern request says so in headers and _meta alike", (*Dispatcher).modernHeaders},
	{"15 the method exists in this era", (*Dispatcher).knownMethod},
	{"16 the caller holds the scopes of what it names", (*Dispatcher).scopes},
	{"17 what it names exists", (*Dispatcher).names},
}

func (d *Dispatcher) readable(x *exchange) error {
	if x.msg.Err != nil {
		return x.msg.Err
	}
	return nil
}

func (d *Dispatcher) notification(x *exchange) error {
	x.silent = x.msg.Notification()
	return nil
}

func (d *Dispatcher) modernHeaders(x *exchange) error {
	if x.era == rpc.Legacy {
		return nil
	}
	if x.Version == "" {
		return fault.New(rpc.HeaderMismatch, "The header MCP-Protocol-Version is missing. Send the version that _meta names.")
	}
	version, ok := x.msg.Meta.Text(metaVersion)
	if !ok {
		return fault.New(rpc.InvalidParams, "params._meta has no %q. A request of this protocol version names it there and in the header.", metaVersion)
	}
	if x.Version != version {
		return fault.New(rpc.HeaderMismatch, "The header MCP-Protocol-Version and params._meta name different versions.")
	}
	if version != ModernVersion {
		return fault.New(rpc.VersionUnsupported, "Protocol version %.40q is not served this way. Use %s, or initialize for an older one.", version, ModernVersion).
			Naming("supported", Versions).Naming("requested", version)
	}
	if _, object, err := rpc.ParseObject(x.msg.Meta.Get(metaCapabilities)); !object || err != nil {
		return fault.New(rpc.InvalidParams, "params._meta has no object %q. Send {} when the client has no capabilities.", metaCapabilities)
	}
	if x.Method != x.msg.Method {
		return fault.New(rpc.HeaderMismatch, "The header Mcp-Method is missing or names another method than the body.")
	}
	member, named := nameMember[x.msg.Method]
	if !named {
		return nil
	}
	want, ok := x.msg.Params.Text(member)
	got, decoded := decodeName(x.Name)
	if !ok || !decoded || got != want {
		return fault.New(rpc.HeaderMismatch, "The header Mcp-Name is missing, cannot be decoded or differs from params.%s.", member)
	}
	return nil
}

// nameMember is the member of params that Mcp-Name repeats.
var nameMember = map[string]string{"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}

// decodeName reads a header value: as it stands, or as =?base64?...?= around
// the strict standard base64 of UTF-8.
func decodeName(value string) (string, bool) {
	inner, ok := strings.CutPrefix(value, "=?base64?")
	if !ok {
		return value, value != ""
	}
	if inner, ok = strings.CutSuffix(inner, "?="); !ok {
		return "", false
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(inner)
	// The decoder skips line breaks, which no header value has.
	if err != nil || !utf8.Valid(raw) || strings.ContainsAny(inner, "\r\n") {
		return "", false
	}
	return string(raw), true
}

func (d *Dispatcher) knownMethod(x *exchange) error {
	m, known := d.methods[x.msg.Method]
	if !known || !m.serves(x.era) {
		return fault.New(rpc.MethodNotFound, "There is no method %.80q in this protocol version.", x.msg.Method)
	}
	x.method = m
	return nil
}

// scopes finds what the message names and holds its scopes against the
// caller's, before any data is read: who lacks a scope learns nothing about
// what exists.
func (d *Dispatcher) scopes(x *exchange) error {
	if x.Principal.Capability() && !x.method.open {
		return fault.New(fault.AuthScopeInsufficient, "A capability token lists and reads the resources it names and does nothing else.").
			With("required", []string{}).With("held", []string{})
	}
	if x.method.find == nil {
		return nil
	}
	needed := x.method.find(d, x)
	if x.tool != nil && x.tool.PeopleOnly && x.Principal.Kind != identity.User {
		return fault.New(fault.ActorUnresolved, "Only a person who is a member of the tenant can decide, whatever scopes an agent has. Ask a member to do it.")
	}
	missing := x.Principal.Scopes.Missing(needed)
	if x.tool != nil && x.tool.AnyScope && len(missing) < len(needed) {
		return nil
	}
	if len(missing) > 0 {
		return fault.New(fault.AuthScopeInsufficient, "This needs the scope %s. Ask for a token that has it.", identity.Scopes(missing)).
			With("required", identity.Scopes(needed).Strings()).With("held", x.Principal.Scopes.Strings())
	}
	return nil
}

func (d *Dispatcher) names(x *exchange) error {
	if x.method.check == nil {
		return nil
	}
	return x.method.check(d, x)
}

// caller is the message's call as providers see it.
func (x *exchange) caller() catalog.Call {
	c := catalog.Call{Principal: x.Principal, RequestID: x.RequestID, ProgressToken: x.msg.Meta.Get(metaProgress)}
	if x.Stream {
		c.Notify = func(method string, params any) {
			if note, err := json.Marshal(notification{"2.0", method, params}); err == nil {
				x.notes = append(x.notes, note)
			}
		}
	}
	return c
}

type notification struct {
	JSONRPC string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

// reply writes a result in the era of the request.
func (x *exchange) reply(res result) Reply {
	body := rpc.Result(x.msg.ID, res.encode(x.era)...)
	if len(x.notes) == 0 {
		return Reply{Status: 200, Body: body, Err: x.refused}
	}
	var stream []byte
	for _, message := range slices.Concat(x.notes, [][]byte{body}) {
		stream = append(stream, "event: message\ndata: "...)
		stream = append(stream, message...)
		stream = append(stream, "\n\n"...)
	}
	return Reply{Status: 200, Body: stream, Stream: true, Err: x.refused}
}
