// Package raw keeps what agents and operators bring from outside: statements,
// exports, documents, whole and unread. The bytes lie in a blob store under
// their hash and a row in the table says what is known of them. Nothing of it
// counts as a fact before it has been parsed.
package raw

import (
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"strings"

	"github.com/robotmoney/mcp/shared/domain/fault"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/raw/payload"
)

// State is where an artifact stands between its arrival and the ledger.
type State string

// The states of an artifact.
const (
	Quarantined State = "quarantined" // stored and readable, not parsed until a member trusts its agent
	Accepted    State = "accepted"    // may be parsed
	Extracted   State = "extracted"   // its rows are in the ledger
	Failed      State = "failed"      // could not be parsed; nothing of it is in the ledger
)

// States lists every state.
var States = []State{Quarantined, Accepted, Extracted, Failed}

// Artifact is the row of an artifact, everything but its bytes.
type Artifact struct {
	ID       string `json:"raw_id"` // raw_ and a ULID
	TenantID string `json:"tenant_id"`
	SHA256   string `json:"sha256"` // 64 lower-case hexadecimal digits
	Size     int    `json:"size_bytes"`
	MIMEType string `json:"mime_type"` // as declared; nothing has looked
	State    State  `json:"state"`
	// Who brought it, as the credential says; empty for an operator's import.
	AgentID      string `json:"agent_id"`
	AgentRole    string `json:"agent_role"`
	Registration string `json:"registration"` // the agent's id on the chain, 0x and 64 digits
	// SourceRef is what the contributor says of where it comes from, an object.
	// The three members of the attribution are ours in it too.
	SourceRef json.RawMessage `json:"source_ref"`
	CreatedAt string          `json:"created_at"` // RFC 3339, milliseconds
}

// Origin is who brings an artifact, as a verified credential or an operator
// says. Nothing in a contribution can change it.
type Origin struct {
	Actor        identity.Actor
	AgentID      string // empty for an operator
	AgentRole    string
	Registration string
	Trusted      bool // its contributions are accepted from the first one on
}

// OriginOf is an authenticated agent as an origin; any other principal brings
// nothing and gets actor_unresolved.
func OriginOf(p identity.Principal) (Origin, error) {
	if p.Kind != identity.Agent || p.Agent == nil {
		return Origin{}, fault.New(fault.ActorUnresolved, "Only a registered agent contributes artifacts.")
	}
	return Origin{
		Actor: p.Actor(), AgentID: p.ID, AgentRole: p.Agent.Role, Trusted: p.Agent.Trusted,
		Registration: identity.AgentHash(p.Tenant.String(), p.ID).String(),
	}, nil
}

// Contribution is what somebody brings.
type Contribution struct {
	Payload        []byte          // 1 byte to payload.Max, or to MaxImport of an operator's
	MIMEType       string          // empty is application/json
	SourceRef      json.RawMessage // a JSON object; nil is an empty one
	IdempotencyKey string          // empty for none
}

// Bounds of a contribution's texts: all of it is one item of the table, and is
// repeated in answers.
const (
	maxSourceRef = 8 << 10
	maxMIMEType  = 255
	maxKey       = 255
)

// MaxImport is the most bytes of what an operator brings. It comes in no message,
// but the function that parses it holds it in memory.
const MaxImport = 32 << 20

// most is how many bytes somebody may bring.
func most(by Origin) int {
	if by.AgentID == "" {
		return MaxImport
	}
	return payload.Max
}

// DefaultMIMEType is what a contribution that names no type is taken for.
const DefaultMIMEType = "application/json"

// check says what is wrong with a contribution and puts it into its stored form.
func (c *Contribution) check(by Origin) error {
	if n, most := len(c.Payload), most(by); n == 0 || n > most {
		return invalid("payload", "it has %d bytes; want 1 to %d", n, most)
	}
	if len(c.IdempotencyKey) > maxKey {
		return invalid("idempotency_key", "it has %d bytes, at most %d are taken", len(c.IdempotencyKey), maxKey)
	}
	if c.MIMEType == "" {
		c.MIMEType = DefaultMIMEType
	}
	kind, params, err := mime.ParseMediaType(c.MIMEType)
	if err == nil {
		kind = mime.FormatMediaType(kind, params)
	}
	if err != nil || !strings.Contains(kind, "/") || len(kind) > maxMIMEType {
		return invalid("mime_type", "%.40q is no media type such as text/csv", c.MIMEType)
	}
	c.MIMEType = kind
	c.SourceRef, err = attributed(c.SourceRef, by)
	return err
}

// attributed is the contributor's source reference with our attribution in it:
// a reader of the one object must not find somebody else's name there.
func attributed(claimed json.RawMessage, by Origin) (json.RawMessage, error) {
	members := map[string]json.RawMessage{}
	if claimed != nil {
		if len(claimed) > maxSourceRef {
			return nil, invalid("source_ref", "it has %d bytes, at most %d are taken", len(claimed), maxSourceRef)
		}
		if err := json.Unmarshal(claimed, &members); err != nil || members == nil {
			return nil, invalid("source_ref", "want an object")
		}
	}
	for name, value := range map[string]string{"agent_id": by.AgentID, "agent_role": by.AgentRole, "registration": by.Registration} {
		delete(members, name)
		if value == "" {
			continue
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", name, err)
		}
		members[name] = text
	}
	return json.Marshal(members)
}

func invalid(field, format string, args ...any) error {
	return fault.New(fault.InvalidArgument, "%s: %s.", field, fmt.Sprintf(format, args...))
}

// Blobs keeps bytes under names that say what they are: who stores twice under
// a name stores the same. Failures to reach it have the code
// dependency_unavailable.
type Blobs interface {
	// Put stores body whole and verified, or fails.
	Put(ctx context.Context, name string, body []byte) error
	// Get returns what lies under a name; more than limit bytes are an error, as
	// is a name that holds nothing.
	Get(ctx context.Context, name string, limit int) ([]byte, error)
}

// blobName is where a tenant's bytes lie. The tenant comes first, so that a
// bucket policy or a lifecycle rule can tell tenants apart.
func blobName(t identity.Tenant, sum string) string { return t.String() + "/sha256/" + sum }
