// Package mcp is the Model Context Protocol: it judges one message after the
// other in a fixed order, answers it in the era it was asked in, and leaves one
// audit event for each.
package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"

	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/trace"
	"github.com/robotmoney/mcp/shared/surface/catalog"
	"github.com/robotmoney/mcp/shared/surface/rpc"
)

// Trail keeps the outer event of a request; an error means that it is kept
// nowhere.
type Trail interface {
	Called(ctx context.Context, call audit.Call) error
}

// Dispatcher answers messages out of a catalogue. Make it with New.
type Dispatcher struct {
	catalog *catalog.Catalog
	trail   Trail
	log     *slog.Logger
	methods map[string]method
	lists   lists
}

// New makes a dispatcher. The catalogue must not change any more. A tool whose
// ready-made schema is no JSON is an error at start and not of every list.
func New(c *catalog.Catalog, trail Trail, log *slog.Logger) (*Dispatcher, error) {
	for _, tool := range c.Tools() {
		if tool.Schemas == nil && !(json.Valid(tool.InputSchema) && (tool.OutputSchema == nil || json.Valid(tool.OutputSchema))) {
			return nil, fmt.Errorf("tool %s: its schema is no JSON", tool.Name)
		}
	}
	return &Dispatcher{catalog: c, trail: trail, log: log, methods: methodTable(), lists: listsOf(c)}, nil
}

// Request is an HTTP request that the edge has let through: its body read, its
// sender known. The header values are trimmed; an absent header is empty.
type Request struct {
	Envelope   rpc.Envelope
	Principal  identity.Principal
	RequestID  string
	Version    string // MCP-Protocol-Version
	Method     string // Mcp-Method
	Name       string // Mcp-Name
	Underscore bool   // tool names are listed without dots
	Stream     bool   // the client takes an event stream
}

// Reply is what the edge sends back.
type Reply struct {
	Status int
	Body   []byte       // empty for 202
	Stream bool         // the body is a buffered text/event-stream
	Err    *fault.Error // what was refused, for the headers that go with it, and for who counts
	Tool   string       // the name of the tool that was called, as the catalogue has it
	Prompt string       // that of the prompt
}

// Known is a method's name where there is such a method, and what stands for all
// others in logs and metrics where there is none: nobody's text becomes a name
// there.
func (d *Dispatcher) Known(method string) string {
	if _, known := d.methods[method]; known || method == "" {
		return method
	}
	return "_OTHER"
}

// Traced continues the trace that a message names in its _meta, which is nearer to
// it than the header of the request that brought it.
func Traced(ctx context.Context, msg rpc.Message) context.Context {
	parent, _ := msg.Meta.Text(metaTrace)
	return trace.With(ctx, trace.Parse(parent))
}

// Legacy revisions, newest first, and the modern one.
const (
	ModernVersion = "2026-07-28"
	legacyLatest  = "2025-11-25"
	batchVersion  = "2025-03-26" // the one revision with batches, and what no header means
)

// Versions lists every revision the endpoint serves, newest first.
var Versions = []string{ModernVersion, legacyLatest, "2025-06-18", batchVersion, "2024-11-05"}

// EraOf says in which era a message is spoken: modern when its _meta names a
// version or the header names none of the legacy ones; initialize without such
// a _meta is always legacy.
func EraOf(header string, msg rpc.Message) rpc.Era {
	if msg.Meta.Get(metaVersion) != nil {
		return rpc.Modern
	}
	if msg.Method == "initialize" || header == "" || slices.Contains(Versions[1:], header) {
		return rpc.Legacy
	}
	return rpc.Modern
}

// Serve answers a body: one message, or a batch of the one revision that has
// them, as an array of the answers its requests get.
func (d *Dispatcher) Serve(ctx context.Context, req Request) Reply {
	env := req.Envelope
	if env.Batch && env.Err == nil && req.Version != "" && req.Version != batchVersion {
		env.Err = fault.New(rpc.InvalidRequest, "Batches belong to protocol version %s. Send one message a request.", batchVersion)
	}
	if env.Err != nil {
		return d.answer(ctx, req, rpc.Message{Err: env.Err})
	}
	if !env.Batch {
		return d.answer(ctx, req, env.Messages[0])
	}
	var answers [][]byte
	req.Stream = false
	for _, msg := range env.Messages {
		if reply := d.answer(ctx, req, msg); reply.Body != nil {
			answers = append(answers, reply.Body)
		}
	}
	if answers == nil {
		return Reply{Status: 202}
	}
	// Joined by hand: encoding/json would escape the ids once more.
	return Reply{Status: 200, Body: slices.Concat([]byte("["), bytes.Join(answers, []byte(",")), []byte("]"))}
}

// answer takes one message down the ladder, records it, and writes the reply.
// A request that cannot be recorded is refused, whatever its answer was.
func (d *Dispatcher) answer(ctx context.Context, req Request, msg rpc.Message) Reply {
	x := &exchange{Request: req, msg: msg, era: EraOf(req.Version, msg)}
	ctx = Traced(ctx, msg)
	reply := d.judged(ctx, x)
	if x.tool != nil {
		reply.Tool = x.tool.Name
	}
	if x.prompt != nil {
		reply.Prompt = x.prompt.Name
	}
	return reply
}

func (d *Dispatcher) judged(ctx context.Context, x *exchange) Reply {
	req, msg := x.Request, x.msg
	ctx = audit.Within(ctx, call(req.RequestID, req.Principal.Tenant, req.Principal.Actor(), msg, nil))
	result, err := d.climb(ctx, x)
	if x.silent {
		return Reply{Status: 202}
	}
	failure := x.refused
	if err != nil {
		failure = fault.Of(err)
		d.logFailure(ctx, x, failure)
	}
	if kept := d.Record(ctx, req.RequestID, req.Principal.Tenant, req.Principal.Actor(), msg, failure); kept != nil {
		failure = fault.Of(kept)
		d.logFailure(ctx, x, failure)
		return d.refuse(req, msg, x.era, failure)
	}
	if err != nil {
		return d.refuse(req, msg, x.era, failure)
	}
	return x.reply(result)
}

// Record keeps the outer event of a message: what was asked, and the code it was
// refused with, if any. An error says that the event is kept nowhere.
func (d *Dispatcher) Record(ctx context.Context, requestID string, tenant identity.Tenant, actor identity.Actor, msg rpc.Message, refused *fault.Error) error {
	err := d.trail.Called(ctx, call(requestID, tenant, actor, msg, refused))
	if err == nil || fault.Is(err, fault.DependencyUnavailable) {
		return err
	}
	// Whatever the reason is, what is not recorded is not served.
	return fault.Because(err, fault.DependencyUnavailable, "The request could not be recorded in the audit trail, so it was not served. Try again.")
}

// call describes a message for its outer event.
func call(requestID string, tenant identity.Tenant, actor identity.Actor, msg rpc.Message, refused *fault.Error) audit.Call {
	c := audit.Call{RequestID: requestID, Tenant: tenant, Actor: actor, Method: msg.Method, Arguments: msg.Params.Get("arguments")}
	c.Name, _ = msg.Params.Text("name")
	c.URI, _ = msg.Params.Text("uri")
	if refused != nil {
		c.Code = string(refused.Code)
	}
	return c
}

// climb runs the ladder and turns a panic into an internal error: one bad
// request must not take the process, and the next caller, with it.
func (d *Dispatcher) climb(ctx context.Context, x *exchange) (res result, err error) {
	defer func() {
		if p := recover(); p != nil {
			d.log.ErrorContext(ctx, "panic", "request_id", x.RequestID, "method", x.msg.Method, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			res, err = result{}, fault.New(fault.Internal, "Something failed on our side. Try again; if it lasts, report the request_id.")
		}
	}()
	for _, rung := range ladder {
		if err := rung.judge(d, x); err != nil || x.silent {
			return result{}, err
		}
	}
	return x.method.run(d, ctx, x)
}

func (d *Dispatcher) refuse(req Request, msg rpc.Message, era rpc.Era, err *fault.Error) Reply {
	status, _ := rpc.FaceOf(err.Code, era)
	return Reply{Status: status, Body: rpc.Failure(msg.ID, era, req.RequestID, err), Err: err}
}

// logFailure writes the cause of what the caller is only told the code of.
func (d *Dispatcher) logFailure(ctx context.Context, x *exchange, err *fault.Error) {
	if err.Cause != nil {
		d.log.WarnContext(ctx, "request failed", "request_id", x.RequestID, "tenant", x.Principal.Tenant.String(), "method", x.msg.Method, "code", string(err.Code), "cause", err.Cause.Error())
	}
}
