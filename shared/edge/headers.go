package edge

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
)

// wellKnown is where RFC 9728 puts a resource's metadata: at the root of the
// host for the whole origin, and followed by the endpoint's path for it.
const wellKnown = "/.well-known/oauth-protected-resource"

// challengeHeader carries the challenge a second time. API Gateway renames
// WWW-Authenticate on the way out, and the template maps this one back onto it.
const challengeHeader = "X-RM-Challenge"

const (
	allowedHeaders = "authorization, content-type, accept, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id, last-event-id, traceparent, x-agent-api-key"
	exposedHeaders = "WWW-Authenticate, Retry-After, X-Request-Id"
)

// preflight answers OPTIONS for everybody: a browser sends it without a token.
func preflight() response {
	return response{status: http.StatusNoContent, header: http.Header{
		"Access-Control-Allow-Methods": {"POST, OPTIONS"},
		"Access-Control-Allow-Headers": {allowedHeaders},
		"Access-Control-Max-Age":       {"86400"},
	}}
}

// cors lets a page of an allowed origin read the reply. Credentials in the
// browser's sense are never allowed: the token is a header, not a cookie.
func (s *Server) cors(v *visit, header http.Header) {
	header.Set("Access-Control-Expose-Headers", exposedHeaders)
	header.Set("Vary", "Origin")
	if origin := v.value("Origin"); origin != "" && s.allows(origin) {
		header.Set("Access-Control-Allow-Origin", origin)
	}
}

// challenge tells a client what token to get. Only a token failure and a
// missing scope carry one: nothing else is mended by a new login, and a client
// must not loop through one.
func (s *Server) challenge(v *visit, header http.Header, status int, err *fault.Error) {
	metadata := fmt.Sprintf("resource_metadata=%q", s.public+wellKnown+s.path)
	var text string
	switch {
	case err.Code == fault.AuthScopeInsufficient:
		required, _ := err.Details["required"].([]string)
		if len(required) == 0 { // no scope would help
			break
		}
		text = fmt.Sprintf("Bearer error=\"insufficient_scope\", scope=%q, %s", strings.Join(required, " "), metadata)
	case status == http.StatusUnauthorized:
		text = fmt.Sprintf("Bearer %s, scope=%q", metadata, identity.AllScopes)
		if err.Code != fault.AuthTokenMissing {
			text += `, error="invalid_token"`
		}
	}
	if text != "" {
		header.Set("WWW-Authenticate", text)
		header.Set(challengeHeader, text)
	}
	if retry := wait(err, status); retry != "0" {
		header.Set("Retry-After", retry)
	}
}
