package edge

import (
	"context"
	"mime"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/access"
	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/surface/catalog"
	"github.com/robotmoney/mcp/shared/surface/mcp"
	"github.com/robotmoney/mcp/shared/surface/rpc"
)

const (
	// maxBody is the most that is looked at; maxMessage the most a message may
	// have unless it brings a raw artifact.
	maxBody    = 4 << 20
	maxMessage = 1 << 20
)

// visit is one request to the endpoint on its way down the ladder, and what is
// known of it so far.
type visit struct {
	request
	id        string
	agent     string // whose path was asked, empty for the endpoint's own
	envelope  rpc.Envelope
	claimed   *access.Claimed // set once the credential has verified
	principal identity.Principal

	// For the log and who counts.
	asked        bool         // it came to the endpoint
	tool, prompt string       // names of the catalogue
	refused      *fault.Error // nil for what was answered
}

// ladder is every condition a request meets before its message is looked at, in
// this order; the first rung with an error ends it. The surface's ladder has
// the rungs after. (Rungs 1 and 2, OPTIONS and the other methods, are the
// router's: they answer without an error of JSON-RPC or before there is a body.)
//
// The order is part of the contract: a foreign page is turned away before its
// token is looked at, an expired token before its scope, and a stranger before
// the chain is asked on its behalf.
var ladder = []struct {
	rung  string
	judge func(*Server, context.Context, *visit) error
}{
	{"3 the origin may call", (*Server).origin},
	{"4 the body is JSON", (*Server).contentType},
	{"5 the client takes JSON", (*Server).accept},
	{"6 the body is not too large", (*Server).size},
	{"7 the credential verifies", (*Server).credential},
	{"8 the tenant's rate, then the checks of the principal", (*Server).admit},
	{"8b an agent's own path is asked by that agent", (*Server).own},
}

func (s *Server) origin(_ context.Context, v *visit) error {
	if s.loopback && !loopback(v.host) {
		return fault.New(rpc.OriginNotAllowed, "The Host header names no loopback address.")
	}
	if origin := v.value("Origin"); origin != "" && !s.allows(origin) {
		return fault.New(rpc.OriginNotAllowed, "Requests from this origin are not allowed.")
	}
	return nil
}

// allows says whether a browser page of that origin may call. On a loopback
// endpoint every loopback page may.
func (s *Server) allows(origin string) bool {
	if slices.Contains(s.config.Origins, origin) || origin == s.public {
		return true
	}
	u, err := url.Parse(origin)
	return s.loopback && err == nil && loopback(u.Host)
}

// loopback says whether a host, with or without a port, is this machine.
func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || (ip != nil && ip.IsLoopback())
}

func (s *Server) contentType(_ context.Context, v *visit) error {
	if media, _, _ := strings.Cut(v.value("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(media), "application/json") {
		return fault.New(rpc.UnsupportedMedia, "The Content-Type is not application/json.")
	}
	return nil
}

func (s *Server) accept(_ context.Context, v *visit) error {
	accept := v.value("Accept")
	if accept != "" && !accepts(accept, "application/json") {
		return fault.New(rpc.NotAcceptable, "The Accept header excludes application/json, the form of every answer.")
	}
	return nil
}

// accepts says whether an Accept header lets a media type through: by a range
// that is neither foreign to it nor weighted zero, the most specific one
// deciding.
func accepts(accept, media string) bool {
	group, _, _ := strings.Cut(media, "/")
	best, allowed := -1, false
	for _, entry := range strings.Split(accept, ",") {
		kind, params, err := mime.ParseMediaType(entry)
		specific := slices.Index([]string{"*/*", group + "/*", media}, kind)
		if err != nil || specific <= best {
			continue
		}
		weight, err := strconv.ParseFloat(params["q"], 64)
		best, allowed = specific, params["q"] == "" || (err == nil && weight > 0)
	}
	return allowed
}

// size refuses what is too large, and reads the envelope of what is not: from
// here on a refusal carries the request's id.
func (s *Server) size(_ context.Context, v *visit) error {
	if len(v.body) > maxBody {
		return fault.New(rpc.BodyTooLarge, "The body has %d bytes; at most %d are taken.", len(v.body), maxBody)
	}
	if v.bodyErr != nil {
		v.envelope = rpc.Envelope{Err: fault.Because(v.bodyErr, rpc.ParseError, "The body is said to be base64 and is not.")}
		return nil
	}
	v.envelope = rpc.Parse(v.body)
	if len(v.body) > maxMessage && !bringsArtifact(v.envelope) {
		return fault.New(rpc.BodyTooLarge, "The message has %d bytes; at most %d are taken, unless it calls raw.contribute.", len(v.body), maxMessage)
	}
	return nil
}

// bringsArtifact says whether a message is the one that may be large.
func bringsArtifact(env rpc.Envelope) bool {
	msg := env.First()
	name, _ := msg.Params.Text("name")
	return msg.Method == "tools/call" && catalog.Underscore(name) == "raw_contribute"
}

func (s *Server) credential(ctx context.Context, v *visit) error {
	cred := access.Credential{APIKey: v.value("X-Agent-API-Key")}
	// A gateway may have joined several into one, and no credential has a comma.
	if strings.Contains(strings.Join(slices.Concat(v.header.Values("Authorization"), v.header.Values("X-Agent-API-Key")), ","), ",") {
		return fault.New(fault.AuthTooMany, "More than one credential came with the request. Send one.")
	}
	if header := v.value("Authorization"); header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		cred.Bearer = strings.TrimSpace(token)
		if !strings.EqualFold(scheme, "Bearer") || cred.Bearer == "" {
			return fault.New(fault.AuthTokenInvalid, "The Authorization header is no Bearer token.")
		}
	}
	claimed, err := s.door.Verify(ctx, cred)
	if err != nil {
		return err
	}
	v.claimed = &claimed
	return nil
}

func (s *Server) admit(ctx context.Context, v *visit) (err error) {
	v.principal, err = s.door.Admit(ctx, *v.claimed, max(1, len(v.envelope.Messages)))
	return err
}

// own keeps everybody but the agent itself off an agent's path. The answer is
// the same whether or not there is such an agent, and whose it is.
func (s *Server) own(_ context.Context, v *visit) error {
	if v.agent == "" || v.principal.Kind == identity.Agent && v.principal.ID == v.agent {
		return nil
	}
	return fault.New(fault.AuthTenantMismatch, "This path belongs to another agent than the credential. Use the path with the credential's own agent id, or %s.", s.path)
}

// toSurface is the visit as the surface takes it.
func (v *visit) toSurface() mcp.Request {
	req := mcp.Request{
		Envelope: v.envelope, Principal: v.principal, RequestID: v.id,
		Version: v.value("MCP-Protocol-Version"), Method: v.value("Mcp-Method"), Name: v.value("Mcp-Name"),
		Stream: accepts(v.value("Accept"), "text/event-stream"),
	}
	req.Underscore = v.query.Get("tool_names") == "underscore" || (v.principal.Agent != nil && v.principal.Agent.ToolNames == "underscore")
	return req
}

// era is how the request is spoken, for refusals before the surface sees it.
func (v *visit) era() rpc.Era {
	return mcp.EraOf(v.value("MCP-Protocol-Version"), v.envelope.First())
}
