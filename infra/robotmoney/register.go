package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robotmoney/mcp/infra/local/stackfile"
	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/domain/raw"
	"github.com/robotmoney/mcp/shared/domain/tenant"
	"github.com/robotmoney/mcp/shared/platform/chain/tx"
)

// tenantCreate enters a company: its first signer on the chain, which the
// registry's admin names, and its settings in the table.
func tenantCreate(ctx context.Context, c *call) error {
	signer := c.flags.String("signer", "", "account of the first signer; the one of ROBOTMONEY_SIGNER_KEY when empty")
	quorum := c.flags.Int("quorum", 1, "how many signers a policy needs")
	days := c.flags.Int("pending-days", 7, "how long proposals wait for people")
	above := c.flags.String("second-above", "", "amount above which two people must approve, such as 50000USD")
	zone := c.flags.String("time-zone", "", "IANA zone of the company's days, such as Europe/Berlin")
	if err := c.parse(1); err != nil {
		return err
	}
	t, err := identity.OperatorTenant(c.args[0])
	if err != nil {
		return usageError(err.Error())
	}
	settings := tenant.Settings{PolicyQuorum: *quorum, PendingDays: *days, TimeZone: *zone}
	if *above != "" {
		limit, err := amountOf(*above)
		if err != nil {
			return err
		}
		settings.SecondApprover = &limit
	}
	if err := settings.Check(); err != nil {
		return usageError(err.Error())
	}
	target, err := c.connect(ctx)
	if err != nil {
		return err
	}
	account, err := target.nameSigner(ctx, t, *signer)
	if err != nil {
		return err
	}
	actor, requestID, err := operator()
	if err != nil {
		return err
	}
	if err := target.roster.CreateTenant(ctx, t, actor, requestID, settings); err != nil {
		return err
	}
	return c.print(map[string]any{"tenant_id": t.String(), "signer": account, "settings": settings},
		[2]string{"tenant", t.String()}, [2]string{"signer", account.String()}, [2]string{"quorum", fmt.Sprint(*quorum)})
}

// nameSigner has the registry list the tenant's first signer, unless it does.
func (t *target) nameSigner(ctx context.Context, of identity.Tenant, text string) (identity.Address, error) {
	key, err := t.key("ROBOTMONEY_SIGNER_KEY", stackfile.SignerKey(of.String()))
	if err != nil && text == "" {
		return identity.Address{}, err
	}
	var account identity.Address
	if text == "" {
		account = key.Address()
	} else if account, err = identity.ParseAddress(text); err != nil {
		return account, usageError("--signer: " + err.Error())
	}
	listed, err := t.registry.IsTenantSigner(ctx, identity.TenantHash(of.String()), account)
	if err != nil || listed {
		return account, err
	}
	admin, err := t.admin(of.String())
	if err != nil {
		return account, err
	}
	if _, err := admin.SetTenantSigner(ctx, identity.TenantHash(of.String()), account, true); err != nil {
		return account, fmt.Errorf("name the first signer, which only the registry's admin can: %w", err)
	}
	return account, nil
}

// agentRegister registers an agent on the chain first, then enters its record: a
// record without a registration would be refused at the door anyway.
func agentRegister(ctx context.Context, c *call) error {
	name, role := c.flags.String("name", "", "the agent's name"), c.flags.String("role", "", "what it is for, such as bill_management")
	scopes, by := c.flags.String("scopes", "", "the grant, comma-separated"), c.flags.String("created-by", "", "the member who makes it")
	address := c.flags.String("address", "", "the agent's own account on the chain")
	t, err := c.forTenant(1)
	if err != nil {
		return err
	}
	grant, err := identity.ParseScopes(split(*scopes))
	if err != nil {
		return usageError("--scopes: " + err.Error())
	}
	target, err := c.connect(ctx)
	if err != nil {
		return err
	}
	rec := identity.AgentRecord{ID: c.args[0], Name: *name, Role: *role, Scopes: grant, CreatedBy: *by}
	account, err := target.agentAccount(rec.ID, *address)
	if err != nil {
		return err
	}
	rec.Address = account.String()
	hash := identity.AgentHash(t.String(), rec.ID)
	reg, err := target.registry.Registration(ctx, hash)
	if err != nil {
		return err
	}
	if reg.RegisteredAt == 0 {
		admin, err := target.admin(t.String())
		if err != nil {
			return err
		}
		if _, err := admin.RegisterAgent(ctx, tx.Agent{
			ID: hash, Address: account, TenantID: identity.TenantHash(t.String()), ScopeHash: grant.Hash(), BehaviorHash: identity.Keccak([]byte(rec.Name)),
		}); err != nil {
			return err
		}
	} else if !reg.Active() || reg.ScopeHash != grant.Hash() {
		return errors.New("the chain holds another registration under this id, and a registration is never changed: choose another id")
	}
	actor, requestID, err := operator()
	if err != nil {
		return err
	}
	if _, err := target.roster.Register(ctx, t, actor, requestID, rec); err != nil {
		return err
	}
	return c.show(ctx, target)
}

// agentAccount is the agent's own account; the local stack makes one up.
func (t *target) agentAccount(name, text string) (identity.Address, error) {
	if text != "" {
		account, err := identity.ParseAddress(text)
		if err != nil {
			return account, usageError("--address: " + err.Error())
		}
		return account, nil
	}
	if !t.local {
		return identity.Address{}, usageError("--address names the agent's own account")
	}
	key, err := tx.ParseLocalKey(stackfile.LocalKey("agent", name))
	if err != nil {
		return identity.Address{}, err
	}
	return key.Address(), nil
}

func agentTrust(ctx context.Context, c *call) error { return c.trust(ctx, true) }

func agentDistrust(ctx context.Context, c *call) error { return c.trust(ctx, false) }

// trust vouches for an agent, and lets what it brought before be parsed.
func (c *call) trust(ctx context.Context, trusted bool) error {
	if err := c.parse(1); err != nil {
		return err
	}
	target, err := c.connect(ctx)
	if err != nil {
		return err
	}
	rec, err := target.roster.Agent(ctx, c.args[0])
	if err != nil {
		return err
	}
	t, err := identity.OperatorTenant(rec.TenantID)
	if err != nil {
		return err
	}
	actor, requestID, err := operator()
	if err != nil {
		return err
	}
	if rec, err = target.roster.Trust(ctx, t, actor, requestID, rec.ID, trusted); err != nil {
		return err
	}
	accepted := 0
	if trusted {
		archive := &raw.Archive{Store: target.store, Trail: target.trail, IDs: target.trail.IDs, Now: time.Now}
		if accepted, err = archive.Accept(ctx, t, actor, requestID, rec.ID); err != nil {
			return err
		}
	}
	return c.print(map[string]any{"record": rec, "accepted": accepted},
		[2]string{"agent", rec.ID}, [2]string{"trusted", fmt.Sprint(rec.Trusted)}, [2]string{"accepted", fmt.Sprintf("%d artifacts that waited", accepted)})
}

// keyBytes is how much randomness a key has.
const keyBytes = 32

// keyCreate makes an API key. It is printed once: only its hash is stored.
func keyCreate(ctx context.Context, c *call) error {
	scopes, ttl := c.flags.String("scopes", "", "what the key may do, comma-separated; all the agent's when empty"), c.flags.Duration("ttl", 90*24*time.Hour, "how long it counts; 0 is for ever")
	if err := c.parse(1); err != nil {
		return err
	}
	target, err := c.connect(ctx)
	if err != nil {
		return err
	}
	rec, err := target.roster.Agent(ctx, c.args[0])
	if err != nil {
		return err
	}
	t, err := identity.OperatorTenant(rec.TenantID)
	if err != nil {
		return err
	}
	grant := rec.Scopes
	if *scopes != "" {
		if grant, err = identity.ParseScopes(split(*scopes)); err != nil {
			return usageError("--scopes: " + err.Error())
		}
	}
	random := make([]byte, keyBytes)
	if _, err := rand.Read(random); err != nil {
		return err
	}
	secret, expires := "bak_"+base64.RawURLEncoding.EncodeToString(random), time.Time{}
	if *ttl > 0 {
		expires = time.Now().Add(*ttl)
	}
	actor, requestID, err := operator()
	if err != nil {
		return err
	}
	if err := target.roster.AddKey(ctx, t, actor, requestID, secret, rec.ID, grant, expires); err != nil {
		return err
	}
	return c.print(map[string]any{"key": secret, "agent_id": rec.ID, "scopes": grant, "expires_at": expires},
		[2]string{"key", secret}, [2]string{"agent", rec.ID}, [2]string{"scopes", grant.String()}, [2]string{"send it as", strings.TrimSpace("X-Agent-API-Key: ...")})
}
