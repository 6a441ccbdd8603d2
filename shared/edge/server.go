package edge

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/robotmoney/mcp/shared/domain/access"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/id"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/trace"
	"github.com/robotmoney/mcp/shared/surface/mcp"
	"github.com/robotmoney/mcp/shared/surface/rpc"
)

// deadline is how long a request may take. It lies below the gateway's 30 s, so
// that our own answer comes first and a client learns what it may repeat.
const deadline = 25 * time.Second

// maxReply is the largest answer Lambda sends, less some room for its own.
const maxReply = 6<<20 - 4<<10

// Config is what the edge knows of its place in the world. Everything comes
// from configuration, nothing from the event: a request must not be able to say
// where it was sent to.
type Config struct {
	EndpointURL string   // the endpoint's canonical full URL
	Issuer      string   // the authorization server clients are sent to
	Origins     []string // browser origins that may call
	// Observe is told of each request to the endpoint; nil tells nobody.
	Observe func(Operation)
}

// Operation is what a request to the endpoint asked for and what came of it.
type Operation struct {
	Method  string // of MCP; _OTHER for one there is not, empty where none could be read
	Outcome Outcome
	Took    time.Duration
}

// Outcome is how a request ended.
type Outcome string

// A refusal is the caller's affair, a failure ours.
const (
	Answered Outcome = "answered"
	Refused  Outcome = "refused"
	Failed   Outcome = "failed"
)

// Server answers events. Make it with New.
type Server struct {
	config   Config
	public   string // scheme and host of the endpoint
	path     string // path of the endpoint
	loopback bool
	door     *access.Control
	surface  *mcp.Dispatcher
	now      func() time.Time
	log      *slog.Logger
}

// New makes a server.
func New(config Config, door *access.Control, surface *mcp.Dispatcher, now func() time.Time, log *slog.Logger) (*Server, error) {
	u, err := url.Parse(config.EndpointURL)
	if err != nil || u.Scheme == "" || u.Host == "" || u.RawQuery != "" || u.Path == "" || strings.HasSuffix(u.Path, "/") {
		return nil, fmt.Errorf("endpoint URL %q: want scheme, host and a path without a trailing slash", config.EndpointURL)
	}
	return &Server{
		config: config, public: u.Scheme + "://" + u.Host, path: u.Path, loopback: loopback(u.Host),
		door: door, surface: surface, now: now, log: log,
	}, nil
}

// Invoke answers one event in the event's own shape. It is the Lambda handler.
func (s *Server) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	req, encode, err := decode(event)
	if err != nil {
		s.log.ErrorContext(ctx, "event not understood", "error", err)
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	ctx = trace.With(ctx, trace.Parse(req.header.Get("Traceparent")))
	v := &visit{request: req, id: requestID(ctx)}
	began := s.now()
	res := s.guarded(ctx, v)
	s.finish(v, &res)
	s.observe(ctx, v, res.status, s.now().Sub(began))
	out, err := encode(res)
	if err == nil && len(out) > maxReply {
		// Lambda would end the invocation instead of sending it.
		res = s.refuse(v, fault.New(rpc.ReplyTooLarge, "The answer takes %d bytes, more than %d. Ask for less at once.", len(out), maxReply))
		s.finish(v, &res)
		out, err = encode(res)
	}
	return out, err
}

// guarded answers a request and turns a panic into an internal error: one bad
// request must not take the process, and the next caller, with it.
func (s *Server) guarded(ctx context.Context, v *visit) (res response) {
	defer func() {
		if p := recover(); p != nil {
			s.log.ErrorContext(ctx, "panic", "request_id", v.id, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			res = s.refuse(v, fault.Of(fmt.Errorf("panic: %v", p)))
		}
	}()
	return s.route(ctx, v)
}

// observe writes the request's line into the log, under OpenTelemetry's names where
// it has one, and tells whoever counts.
func (s *Server) observe(ctx context.Context, v *visit, status int, took time.Duration) {
	msg := v.envelope.First()
	op := Operation{Method: s.surface.Known(msg.Method), Outcome: v.outcome(status), Took: took}
	version, failure := v.value("MCP-Protocol-Version"), ""
	if !slices.Contains(mcp.Versions, version) {
		version = ""
	}
	if v.refused != nil {
		failure = string(v.refused.Code)
	}
	s.log.InfoContext(ctx, "request", "request_id", v.id, "tenant", v.tenant(), "principal", v.actor().ID,
		"http.request.method", v.method, "http.response.status_code", status, "mcp.protocol.version", version, "mcp.method.name", op.Method,
		"gen_ai.tool.name", v.tool, "gen_ai.prompt.name", v.prompt, "outcome", op.Outcome, "error.type", failure,
		"duration_ms", took.Milliseconds(), "trace_id", trace.From(mcp.Traced(ctx, msg)).ID())
	if v.asked && s.config.Observe != nil {
		s.config.Observe(op)
	}
}

// outcome judges how a request ended. A tool's refusal and a legacy error are
// answered with 200.
func (v *visit) outcome(status int) Outcome {
	switch {
	case status >= http.StatusInternalServerError, v.refused != nil && (v.refused.Code == fault.Internal || v.refused.Code == fault.DependencyUnavailable):
		return Failed
	case status >= http.StatusBadRequest, v.refused != nil:
		return Refused
	}
	return Answered
}

// requestID is the invocation's, so that a caller's report leads to the log;
// a random one where there is no invocation.
func requestID(ctx context.Context) string {
	if lc, ok := lambdacontext.FromContext(ctx); ok && lc.AwsRequestID != "" {
		return lc.AwsRequestID
	}
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// route answers what is not the endpoint and hands the rest to it.
func (s *Server) route(ctx context.Context, v *visit) response {
	endpoint := v.path == s.path || v.path == "/" || v.path == ""
	if !endpoint {
		v.agent, endpoint = agentOf(v.path)
	}
	switch {
	case v.method == http.MethodOptions:
		return preflight()
	case v.path == "/healthz":
		return document(v, map[string]string{"status": "ok"})
	case v.path == wellKnown:
		return document(v, s.metadata(s.public))
	case v.path == wellKnown+s.path:
		return document(v, s.metadata(s.config.EndpointURL))
	case !endpoint:
		return response{status: http.StatusNotFound, header: jsonHeader(), body: []byte(`{"error":"not_found","message":"There is nothing under this path. The endpoint is ` + s.path + `."}`)}
	case v.method != http.MethodPost:
		res := s.refuse(v, fault.New(rpc.MethodNotAllowed, "The endpoint takes POST: one JSON-RPC message a request, and it keeps no stream or session."))
		res.header.Set("Allow", "POST, OPTIONS")
		return res
	}
	return s.endpoint(ctx, v)
}

// agentOf reads the agent out of /{agent_id}/mcp, an agent's own path to the
// endpoint. A path that names no well-formed id is none.
func agentOf(path string) (string, bool) {
	name, ok := strings.CutSuffix(strings.TrimPrefix(path, "/"), "/mcp")
	return name, ok && id.Check(id.Agent, name) == nil
}

// endpoint takes a request down the ladder and has the surface answer it.
func (s *Server) endpoint(ctx context.Context, v *visit) response {
	v.asked = true
	if err := s.climb(ctx, v); err != nil {
		return s.refuse(v, s.record(mcp.Traced(ctx, v.envelope.First()), v, inTime(ctx, err)))
	}
	reply := s.surface.Serve(ctx, v.toSurface())
	v.tool, v.prompt, v.refused = reply.Tool, reply.Prompt, reply.Err
	res := response{status: reply.Status, header: http.Header{}, body: reply.Body}
	switch {
	case reply.Stream:
		res.header.Set("Content-Type", "text/event-stream")
	case reply.Body != nil:
		res.header = jsonHeader()
	}
	if reply.Err != nil {
		s.challenge(v, res.header, res.status, reply.Err)
	}
	return res
}

func (s *Server) climb(ctx context.Context, v *visit) error {
	for _, rung := range ladder {
		if err := rung.judge(s, ctx, v); err != nil {
			return err
		}
	}
	return nil
}

// inTime turns whatever failed once the deadline had passed into the answer
// that says so.
func inTime(ctx context.Context, err error) *fault.Error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fault.Because(err, fault.DependencyUnavailable, "The request took longer than %s and was given up. Try again.", deadline).After(1)
	}
	return fault.Of(err)
}

// record keeps the event of a request that was refused after its credential
// had verified, under its tenant. One whose credential did not verify never
// touches a tenant's trail: anybody could write there. Refusals by rate are
// one summary a minute, kept by the limiter.
func (s *Server) record(ctx context.Context, v *visit, refused *fault.Error) *fault.Error {
	if refused.Cause != nil {
		s.log.WarnContext(ctx, "request refused", "request_id", v.id, "tenant", v.tenant(), "code", string(refused.Code), "cause", refused.Cause.Error())
	}
	if v.claimed == nil || refused.Code == fault.RateLimited {
		return refused
	}
	msg := v.envelope.First()
	if err := s.surface.Record(ctx, v.id, v.claimed.Tenant, v.claimed.Actor(), msg, refused); err != nil {
		return fault.Of(err)
	}
	return refused
}

// refuse writes a JSON-RPC error and the headers that go with it.
func (s *Server) refuse(v *visit, err *fault.Error) response {
	v.refused = err
	status, _ := rpc.FaceOf(err.Code, v.era())
	res := response{status: status, header: jsonHeader(), body: rpc.Failure(v.envelope.First().ID, v.era(), v.id, err)}
	s.challenge(v, res.header, status, err)
	return res
}

// finish adds the headers every reply has.
func (s *Server) finish(v *visit, res *response) {
	if res.header.Get("Cache-Control") == "" {
		res.header.Set("Cache-Control", "no-store")
	}
	res.header.Set("X-Request-Id", v.id)
	s.cors(v, res.header)
}

func (v *visit) tenant() string {
	if v.claimed == nil {
		return ""
	}
	return v.claimed.Tenant.String()
}

func (v *visit) actor() identity.Actor {
	if v.claimed == nil {
		return identity.Actor{}
	}
	return v.claimed.Actor()
}

func jsonHeader() http.Header { return http.Header{"Content-Type": {"application/json"}} }

// document answers a GET of a small JSON document.
func document(v *visit, value any) response {
	if v.method != http.MethodGet && v.method != http.MethodHead {
		return response{status: http.StatusMethodNotAllowed, header: http.Header{"Allow": {"GET, HEAD, OPTIONS"}}}
	}
	body, err := json.Marshal(value)
	if err != nil {
		return response{status: http.StatusInternalServerError, header: http.Header{}}
	}
	return response{status: http.StatusOK, header: jsonHeader(), body: body}
}

// wait writes Retry-After; what says nothing of it and can pass is tried again
// after a second.
func wait(err *fault.Error, status int) string {
	if err.Retry == 0 && status == http.StatusServiceUnavailable {
		return "1"
	}
	return strconv.Itoa(err.Retry)
}

// metadata is the RFC 9728 document of a resource.
func (s *Server) metadata(resource string) any {
	return struct {
		Resource             string   `json:"resource"`
		AuthorizationServers []string `json:"authorization_servers"`
		ScopesSupported      []string `json:"scopes_supported"`
		BearerMethods        []string `json:"bearer_methods_supported"`
		ResourceName         string   `json:"resource_name"`
	}{resource, []string{s.config.Issuer}, identity.AllScopes.Strings(), []string{"header"}, "RobotMoney MCP"}
}
