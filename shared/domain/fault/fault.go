// Package fault holds the errors a caller may see: a stable code and a message
// that says what was wrong, what was expected and what to do. Everything else
// that goes wrong is internal and its cause never leaves the server.
package fault

import (
	"errors"
	"fmt"
	"maps"
)

// Code is the stable name of an error, sent as data.code. Clients branch on it:
// renaming one breaks them.
type Code string

// The codes of identity, the ladder, the reads and the money path. The surface's table gives
// each its HTTP status and its two JSON-RPC numbers.
const (
	Internal              Code = "internal_error"
	AuthTokenMissing      Code = "auth_token_missing"
	AuthTokenInvalid      Code = "auth_token_invalid"
	AuthTokenExpired      Code = "auth_token_expired"
	AuthTooMany           Code = "auth_multiple_credentials"
	AuthScopeInsufficient Code = "auth_scope_insufficient"
	AuthTenantMismatch    Code = "auth_tenant_mismatch"
	AgentNotRegistered    Code = "agent_not_registered"
	AgentNotOnchain       Code = "agent_not_registered_onchain"
	AgentScopeHash        Code = "agent_scope_hash_mismatch"
	ActorUnresolved       Code = "actor_unresolved"
	RateLimited           Code = "rate_limited"
	OnchainUnavailable    Code = "onchain_unavailable"
	DependencyUnavailable Code = "dependency_unavailable"
	InvalidArgument       Code = "invalid_argument"
	Conflict              Code = "conflict"
	LedgerRowNotFound     Code = "ledger_row_not_found"
	IntentNotFound        Code = "payment_intent_not_found"
	WikiPageNotFound      Code = "wiki_page_not_found"
	ProofNotFound         Code = "proof_not_found"
	ResourceNotFound      Code = "resource_not_found"
	RawArtifactNotFound   Code = "raw_artifact_not_found"
	AuthorizationNotFound Code = "authorization_not_found"
	ProposalNotFound      Code = "proposal_not_found"
	ActorInactive         Code = "actor_inactive"
	DomainNotAuthorized   Code = "domain_not_authorized"
	ActorLimitExceeded    Code = "actor_limit_exceeded"
	SelfApprovalBlocked   Code = "self_approval_blocked"
	SecondApprovalNeeded  Code = "second_approval_required"
)

// Error is a failure with a code. Details and Extra are shown to the caller;
// Cause is for the log alone.
type Error struct {
	Code    Code
	Message string
	Details map[string]any // data.details: what a program may act on
	Extra   map[string]any // members of data itself that the protocol names, such as uri
	Cause   error
	// Retry is how many seconds the caller should wait before it tries again;
	// 0 says nothing about it.
	Retry int
}

// New makes an error with a formatted message.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Because makes an error whose cause stays in the log.
func Because(cause error, code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Cause: cause}
}

// With returns a copy that carries one more detail for the caller.
func (e *Error) With(name string, value any) *Error {
	c := *e
	c.Details = with(e.Details, name, value)
	return &c
}

// Naming returns a copy that carries one more member the protocol names.
func (e *Error) Naming(name string, value any) *Error {
	c := *e
	c.Extra = with(e.Extra, name, value)
	return &c
}

func with(old map[string]any, name string, value any) map[string]any {
	m := maps.Clone(old)
	if m == nil {
		m = map[string]any{}
	}
	m[name] = value
	return m
}

// After returns a copy that asks the caller to wait so many seconds.
func (e *Error) After(seconds int) *Error {
	c := *e
	c.Retry = seconds
	return &c
}

// Error writes code, message and cause, for the log.
func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Cause)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Of returns the Error in err's chain; anything unknown becomes an internal one
// whose message tells nothing.
func Of(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return Because(err, Internal, "Something failed on our side. Try again; if it lasts, report the request_id.")
}

// Is says whether err carries the code.
func Is(err error, code Code) bool { return err != nil && Of(err).Code == code }
