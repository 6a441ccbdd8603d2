package stack

import (
	"maps"
	"time"

	"github.com/robotmoney/mcp/infra/local/engine"
	"github.com/robotmoney/mcp/infra/local/issuer"
	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/shared/domain/identity"
)

// holder says whose token stands under a name in stack.json.
type holder struct {
	name    string
	kind    identity.Kind
	subject string
	tenant  string
}

// holders are the demo's principals that get a token.
var holders = []holder{
	{"agent", identity.Agent, "agt_finance", "acme"},
	{"agent_readonly", identity.Agent, "agt_readonly", "acme"},
	{"agent_payables", identity.Agent, "agt_payables", "acme"},
	{"other_tenant_agent", identity.Agent, "agt_globex", "globex"},
	{"member_admin", identity.User, "mbr_ada", "acme"},
	{"member_approver", identity.User, "mbr_ben", "acme"},
	{"member_cfo", identity.User, "mbr_dee", "acme"},
	{"member_viewer", identity.User, "mbr_vic", "acme"},
	{"individual", identity.User, "mbr_ivy", "acme"},
}

// memberScopes are those of the members' tokens; the role takes away what it
// does not allow.
var memberScopes = identity.Scopes{identity.ExecutionRead, identity.IntentApprove}

// tokens mints a token for each holder.
func (s *Stack) tokens(now time.Time) (map[string]string, error) {
	file := s.File()
	tokens := map[string]string{}
	for _, h := range holders {
		grant := issuer.Grant{
			Issuer: file.Issuer, Audience: file.MCPURL, Kind: h.kind, Subject: h.subject, Tenant: h.tenant,
			Scopes: memberScopes, Now: now, Life: time.Hour,
		}
		if rec, isAgent := s.records[h.subject]; isAgent {
			grant.Scopes, grant.ScopeHash = rec.Scopes, rec.Scopes.Hash()
		}
		token, err := s.issuer.Token(grant)
		if err != nil {
			return nil, err
		}
		tokens[h.name] = token
	}
	return tokens, nil
}

// write puts the stack's file with fresh tokens where others read it.
func (s *Stack) write(now time.Time) error {
	tokens, err := s.tokens(now)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.minted = tokens
	s.mu.Unlock()
	return s.File().Write(s.options.Folder)
}

// File is the stack as stack.json describes it.
func (s *Stack) File() stackfile.Stack {
	origin := "http://" + s.listener.Addr().String()
	s.mu.Lock()
	defer s.mu.Unlock()
	return stackfile.Stack{
		MCPURL: origin + "/v1/agents/mcp", Issuer: origin + IssuerPath, JWKSURL: origin + IssuerPath + "/jwks.json",
		RPCURL: s.chain.URL, Registry: s.network.deployed.Registry.String(), Anchor: s.network.deployed.Anchor.String(), ChainID: engine.ChainID,
		DynamoDBEndpoint: s.dynamodb.Endpoint, Table: tableName,
		EventsEndpoint: "http://" + s.events.Addr().String(), Bus: busName,
		S3Endpoint: "http://" + s.blobs.Addr().String(), Bucket: bucketName,
		Tokens: maps.Clone(s.minted),
	}
}
