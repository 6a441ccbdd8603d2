package rpc

import (
	"net/http"

	"github.com/robotmoney/mcp/shared/domain/fault"
)

// Era is one of the two ways the endpoint is spoken to.
type Era int

// The eras: Legacy has a handshake and revisions up to 2025-11-25, Modern has
// neither and says everything in each request.
const (
	Legacy Era = iota
	Modern
)

// The codes that belong to the protocol and not to the domain.
const (
	ParseError         fault.Code = "parse_error"
	InvalidRequest     fault.Code = "invalid_request"
	MethodNotFound     fault.Code = "method_not_found"
	InvalidParams      fault.Code = "invalid_params"
	HeaderMismatch     fault.Code = "header_mismatch"
	VersionUnsupported fault.Code = "unsupported_protocol_version"
	MethodNotAllowed   fault.Code = "method_not_allowed"
	OriginNotAllowed   fault.Code = "origin_not_allowed"
	UnsupportedMedia   fault.Code = "unsupported_media_type"
	NotAcceptable      fault.Code = "not_acceptable"
	BodyTooLarge       fault.Code = "body_too_large"
	ReplyTooLarge      fault.Code = "reply_too_large"
	ToolNotFound       fault.Code = "tool_not_found"
	PromptNotFound     fault.Code = "prompt_not_found"
	CursorInvalid      fault.Code = "cursor_invalid"
	CapabilityMissing  fault.Code = "client_capability_missing"
)

// Face is how a code shows itself: the HTTP status and the JSON-RPC number, in
// the legacy and in the modern era.
type Face struct {
	LegacyStatus, ModernStatus int
	LegacyCode, ModernCode     int
}

func same(status, code int) Face { return Face{status, status, code, code} }

// The numbers from -32768 to -32000 belong to the protocol in the modern era,
// so the codes of ours have a second number there.
var (
	token    = Face{http.StatusUnauthorized, http.StatusUnauthorized, -32001, -31001}
	scope    = Face{http.StatusForbidden, http.StatusForbidden, -32002, -31002}
	agent    = Face{http.StatusForbidden, http.StatusForbidden, -32003, -31003}
	hash     = Face{http.StatusForbidden, http.StatusForbidden, -32005, -31005}
	rate     = Face{http.StatusTooManyRequests, http.StatusTooManyRequests, -32029, -31029}
	params   = Face{http.StatusOK, http.StatusBadRequest, -32602, -32602}
	internal = same(http.StatusOK, -32603)
)

// faces is the one table of codes. A code that is not in it shows as an
// internal error: a test holds that every code of the domain is here.
var faces = map[fault.Code]Face{
	MethodNotAllowed: same(http.StatusMethodNotAllowed, -32600),
	OriginNotAllowed: same(http.StatusForbidden, -32600),
	UnsupportedMedia: same(http.StatusUnsupportedMediaType, -32600),
	NotAcceptable:    same(http.StatusNotAcceptable, -32600),
	BodyTooLarge:     same(http.StatusRequestEntityTooLarge, -32600),

	fault.AuthTooMany:           same(http.StatusBadRequest, -32600),
	fault.AuthTokenMissing:      token,
	fault.AuthTokenInvalid:      token,
	fault.AuthTokenExpired:      token,
	fault.RateLimited:           rate,
	fault.AgentNotRegistered:    agent,
	fault.AgentNotOnchain:       agent,
	fault.AgentScopeHash:        hash,
	fault.AuthTenantMismatch:    scope,
	fault.ActorUnresolved:       scope,
	fault.OnchainUnavailable:    same(http.StatusServiceUnavailable, -32603),
	fault.DependencyUnavailable: same(http.StatusServiceUnavailable, -32603),

	ParseError:                  same(http.StatusBadRequest, -32700),
	InvalidRequest:              same(http.StatusBadRequest, -32600),
	HeaderMismatch:              same(http.StatusBadRequest, -32020),
	VersionUnsupported:          same(http.StatusBadRequest, -32022),
	MethodNotFound:              {http.StatusOK, http.StatusNotFound, -32601, -32601},
	fault.AuthScopeInsufficient: scope,

	CapabilityMissing: {http.StatusOK, http.StatusBadRequest, -32021, -32021},

	InvalidParams:             params,
	ToolNotFound:              params,
	PromptNotFound:            params,
	CursorInvalid:             params,
	ReplyTooLarge:             params,
	fault.InvalidArgument:     params,
	fault.LedgerRowNotFound:   params,
	fault.IntentNotFound:      params,
	fault.WikiPageNotFound:    params,
	fault.ProofNotFound:       params,
	fault.ResourceNotFound:    params,
	fault.RawArtifactNotFound: params,

	fault.AuthorizationNotFound: params,
	fault.ProposalNotFound:      params,
	fault.ActorInactive:         params,
	fault.DomainNotAuthorized:   params,
	fault.ActorLimitExceeded:    params,
	fault.SelfApprovalBlocked:   params,
	fault.SecondApprovalNeeded:  params,

	fault.Conflict: internal,
	fault.Internal: internal,
}

// FaceOf returns the code's HTTP status and JSON-RPC number in an era.
func FaceOf(code fault.Code, era Era) (status, number int) {
	face, known := faces[code]
	if !known {
		face = internal
	}
	if era == Modern {
		return face.ModernStatus, face.ModernCode
	}
	return face.LegacyStatus, face.LegacyCode
}
