// Package crowd makes companies on a running stack, each with agents that are
// registered on the chain, a member who decides, a signed policy and a small book:
// whoever wants many tenants at once starts here.
package crowd

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/robotmoney/mcp/infra/local/demo"
	"github.com/robotmoney/mcp/infra/local/issuer"
	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/shared/domain/audit"
	"github.com/robotmoney/mcp/shared/domain/charter"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/ledger"
	"github.com/robotmoney/mcp/shared/domain/money"
	"github.com/robotmoney/mcp/shared/domain/roster"
	"github.com/robotmoney/mcp/shared/domain/tenant"
	"github.com/robotmoney/mcp/shared/platform/chain"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

// Size is how large a crowd is.
type Size struct{ Companies, Agents int } // agents of each

// Company is one of the crowd. Its book, its members' and payees' ids and its
// policy are those of the demo's globex.
type Company struct {
	Tenant identity.Tenant
	Agents []Holder
	Member Holder // may decide about every payment of the company
}

// Holder is somebody with a token, which is good for an hour.
type Holder struct{ ID, Token string }

// Scopes are what each agent is granted.
var Scopes = identity.Scopes{
	identity.AuditRead, identity.ExecutionPropose, identity.ExecutionRead, identity.LedgerRead,
	identity.IntentPropose, identity.RawRead, identity.RawWrite, identity.WikiRead,
}

// together is how many companies are made at one time: their transactions share the
// chain's blocks, and the table takes one after the other anyway.
const together = 20

var operator = identity.Actor{Type: "operator", ID: "crowd"}

// Make makes a crowd on the stack that runs in a folder. Its names are always the
// same, so a stack takes one crowd.
func Make(ctx context.Context, folder string, size Size) ([]Company, error) {
	m, err := open(folder)
	if err != nil {
		return nil, err
	}
	crowd := make([]Company, size.Companies)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(together)
	for i := range crowd {
		group.Go(func() (err error) {
			name := fmt.Sprintf("crowd%02d", i+1)
			if crowd[i], err = m.company(ctx, name, size.Agents); err != nil {
				return fmt.Errorf("company %s: %w", name, err)
			}
			return nil
		})
	}
	return crowd, group.Wait()
}

// maker writes to a stack as its operator.
type maker struct {
	file     stackfile.Stack
	tokens   *issuer.Issuer
	trail    *audit.Trail
	roster   *roster.Roster
	sender   *tx.Transactor // pays, and names first signers
	registry *chain.Registry
	contract chain.Address
	domain   charter.Domain
}

func open(folder string) (*maker, error) {
	file, err := stackfile.Read(folder)
	if err != nil {
		return nil, err
	}
	tokens, err := issuer.Open(filepath.Join(folder, stackfile.State))
	if err != nil {
		return nil, err
	}
	client, err := chain.New(chain.Config{Endpoints: []string{file.RPCURL}, ChainID: file.ChainID, Timeout: 10 * time.Second, Now: time.Now})
	if err != nil {
		return nil, err
	}
	payer, err := tx.ParseLocalKey(stackfile.DeployerKey)
	if err != nil {
		return nil, fmt.Errorf("deployer key: %w", err)
	}
	sender, err := tx.NewTransactor(tx.Config{Client: client, Signer: payer, Poll: 100 * time.Millisecond, Reverts: tx.RegistryReverts})
	if err != nil {
		return nil, err
	}
	contract, err := chain.ParseAddress(file.Registry)
	if err != nil {
		return nil, fmt.Errorf("registry address: %w", err)
	}
	trail := file.Trail()
	return &maker{
		file: file, tokens: tokens, trail: trail, roster: &roster.Roster{Store: trail.Store, Trail: trail}, sender: sender,
		registry: chain.NewRegistry(client, contract), contract: contract, domain: charter.Domain{ChainID: file.ChainID, Registry: contract},
	}, nil
}

// company makes one company: what its agents are judged by before the agents.
func (m *maker) company(ctx context.Context, name string, agents int) (Company, error) {
	t, err := identity.OperatorTenant(name)
	if err != nil {
		return Company{}, err
	}
	signer, err := tx.ParseLocalKey(stackfile.SignerKey(name))
	if err != nil {
		return Company{}, fmt.Errorf("signer key: %w", err)
	}
	admin := tx.NewRegistryAdmin(m.sender, m.contract, signer)
	if _, err := admin.SetTenantSigner(ctx, identity.TenantHash(name), signer.Address(), true); err != nil {
		return Company{}, err
	}
	if err := m.roster.CreateTenant(ctx, t, operator, "crowd", tenant.Settings{PolicyQuorum: 1, PendingDays: 7, TimeZone: "UTC"}); err != nil {
		return Company{}, err
	}
	if err := m.book(ctx, t); err != nil {
		return Company{}, fmt.Errorf("book: %w", err)
	}
	if err := m.enact(ctx, t, signer); err != nil {
		return Company{}, fmt.Errorf("policy: %w", err)
	}
	c := Company{Tenant: t}
	if c.Member, err = m.member(ctx, t); err != nil {
		return Company{}, fmt.Errorf("member: %w", err)
	}
	// One after the other: each carries the tenant's next nonce.
	for i := range agents {
		agent, err := m.agent(ctx, admin, t, fmt.Sprintf("agt_%s_%02d", name, i+1))
		if err != nil {
			return Company{}, fmt.Errorf("agent %d: %w", i+1, err)
		}
		c.Agents = append(c.Agents, agent)
	}
	return c, nil
}

func (m *maker) book(ctx context.Context, t identity.Tenant) error {
	writer := ledger.Writer{Store: m.trail.Store, Trail: m.trail, Now: time.Now}
	_, err := writer.Write(ctx, t, operator, "crowd", demo.Data(demo.Globex).All()...)
	return err
}

func (m *maker) enact(ctx context.Context, t identity.Tenant, signer tx.Signer) error {
	raw, err := demo.Policy(demo.Globex)
	if err != nil {
		return err
	}
	register := &charter.Register{Store: m.trail.Store, Chain: tx.PolicySigners{Registry: m.registry}, Domain: m.domain, Trail: m.trail}
	return demo.Enact(ctx, register, t, raw, signer)
}

func (m *maker) member(ctx context.Context, t identity.Tenant) (Holder, error) {
	rec, err := m.roster.AddMember(ctx, t, operator, "crowd", identity.MemberRecord{
		ID: "mbr_owner", Name: "Owner of " + t.String(), Role: identity.Admin, Status: identity.Active, Domains: identity.Domains, Limits: []money.Written{{Amount: "1000000", Currency: "GBP"}},
	})
	if err != nil {
		return Holder{}, err
	}
	return m.holder(t, rec.ID, issuer.Grant{Kind: identity.User, Scopes: identity.Scopes{identity.ExecutionRead, identity.IntentApprove}})
}

func (m *maker) agent(ctx context.Context, admin *tx.RegistryAdmin, t identity.Tenant, name string) (Holder, error) {
	key, err := tx.ParseLocalKey(stackfile.LocalKey("agent", name))
	if err != nil {
		return Holder{}, err
	}
	_, err = admin.RegisterAgent(ctx, tx.Agent{
		ID: identity.AgentHash(t.String(), name), Address: key.Address(), TenantID: identity.TenantHash(t.String()),
		ScopeHash: Scopes.Hash(), BehaviorHash: identity.Keccak([]byte(name)),
	})
	if err != nil {
		return Holder{}, err
	}
	// Nobody of the crowd has made it: who has may not decide about what it proposes.
	rec, err := m.roster.Register(ctx, t, operator, "crowd", identity.AgentRecord{ID: name, Name: name, Role: "bill_management", Scopes: Scopes, Address: key.Address().String()})
	if err != nil {
		return Holder{}, err
	}
	// What it brings is taken in at once.
	if rec, err = m.roster.Trust(ctx, t, operator, "crowd", rec.ID, true); err != nil {
		return Holder{}, err
	}
	return m.holder(t, rec.ID, issuer.Grant{Kind: identity.Agent, Scopes: Scopes, ScopeHash: Scopes.Hash()})
}

func (m *maker) holder(t identity.Tenant, subject string, g issuer.Grant) (Holder, error) {
	g.Issuer, g.Audience, g.Subject, g.Tenant, g.Now, g.Life = m.file.Issuer, m.file.MCPURL, subject, t.String(), time.Now(), time.Hour
	token, err := m.tokens.Token(g)
	return Holder{ID: subject, Token: token}, err
}
