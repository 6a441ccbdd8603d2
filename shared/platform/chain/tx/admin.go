package tx

import (
	"context"
	"fmt"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/chain"
)

// RegistryReverts are the custom errors of the registry contract, for
// Config.Reverts.
var RegistryReverts = []string{
	"ZeroAddress()", "ZeroAgentId()", "ZeroTenantId()", "ZeroScopeHash()", "NotAdmin(address)",
	"FirstSignerIsPlainAddition(bytes32)", "NotTenantSigner(bytes32,address)", "SignerUnchanged(bytes32,address)",
	"LastSigner(bytes32)", "AgentExists(bytes32)", "AgentUnknown(bytes32)", "AgentIsRevoked(bytes32)",
	"ECDSAInvalidSignature()", "ECDSAInvalidSignatureLength(uint256)", "ECDSAInvalidSignatureS(bytes32)",
}

// RegistryAdmin changes the agent registry: it reads the tenant's nonce, signs
// the EIP-712 message as the tenant's signer, sends it from the transactor's
// account, which pays, and waits for the block. The two may be one key.
//
// Two changes of one tenant at once race for its nonce, and one reverts.
type RegistryAdmin struct {
	transactor *Transactor
	contract   chain.Address
	tenant     Signer
	domain     Domain
}

// NewRegistryAdmin changes the registry at contract with the signatures of tenant.
func NewRegistryAdmin(transactor *Transactor, contract chain.Address, tenant Signer) *RegistryAdmin {
	domain := Domain{ChainID: transactor.Client().ChainID(), Contract: contract}
	return &RegistryAdmin{transactor: transactor, contract: contract, tenant: tenant, domain: domain}
}

// SetTenantSigner allows or forbids an account to sign for a tenant. While the
// tenant has not allowed our signer the signature is left empty: that is how the
// registry's admin names a tenant's first signer, and from anybody else it reverts.
func (a *RegistryAdmin) SetTenantSigner(ctx context.Context, tenant identity.Hash, signer chain.Address, allowed bool) (Receipt, error) {
	ours, err := a.IsTenantSigner(ctx, tenant, a.tenant.Address())
	if err != nil {
		return Receipt{}, fmt.Errorf("set a signer of tenant %s: %w", tenant, err)
	}
	var signature []byte
	if ours {
		signature, err = a.signed(ctx, tenant, func(nonce uint64) identity.Hash {
			return a.domain.SetTenantSigner(tenant, signer, allowed, nonce)
		})
		if err != nil {
			return Receipt{}, fmt.Errorf("set a signer of tenant %s: %w", tenant, err)
		}
	}
	call := Function("setTenantSigner(bytes32,address,bool,bytes)").
		Bytes32(tenant).Address(signer).Bool(allowed).Bytes(signature)
	return a.send(ctx, call, "set a signer of tenant", tenant)
}

// RegisterAgent registers an agent under an id never used before. Its scope hash
// cannot be changed afterwards.
func (a *RegistryAdmin) RegisterAgent(ctx context.Context, agent Agent) (Receipt, error) {
	signature, err := a.signed(ctx, agent.TenantID, func(nonce uint64) identity.Hash {
		return a.domain.RegisterAgent(agent, nonce)
	})
	if err != nil {
		return Receipt{}, fmt.Errorf("register agent %s: %w", agent.ID, err)
	}
	call := Function("registerAgent(bytes32,address,bytes32,bytes32,bytes32,bytes)").agent(agent).Bytes(signature)
	return a.send(ctx, call, "register agent", agent.ID)
}

// UpdateBehaviorHash gives a registered agent another behaviour hash.
func (a *RegistryAdmin) UpdateBehaviorHash(ctx context.Context, agent, behavior identity.Hash) (Receipt, error) {
	signature, err := a.signedFor(ctx, agent, func(nonce uint64) identity.Hash {
		return a.domain.UpdateBehaviorHash(agent, behavior, nonce)
	})
	if err != nil {
		return Receipt{}, fmt.Errorf("update the behaviour of agent %s: %w", agent, err)
	}
	call := Function("updateBehaviorHash(bytes32,bytes32,bytes)").Bytes32(agent).Bytes32(behavior).Bytes(signature)
	return a.send(ctx, call, "update the behaviour of agent", agent)
}

// RevokeAgent revokes an agent for ever.
func (a *RegistryAdmin) RevokeAgent(ctx context.Context, agent identity.Hash) (Receipt, error) {
	signature, err := a.signedFor(ctx, agent, func(nonce uint64) identity.Hash {
		return a.domain.RevokeAgent(agent, nonce)
	})
	if err != nil {
		return Receipt{}, fmt.Errorf("revoke agent %s: %w", agent, err)
	}
	call := Function("revokeAgent(bytes32,bytes)").Bytes32(agent).Bytes(signature)
	return a.send(ctx, call, "revoke agent", agent)
}

// Nonce is the number that the tenant's next message must carry.
func (a *RegistryAdmin) Nonce(ctx context.Context, tenant identity.Hash) (nonce uint64, err error) {
	call := Function("nonces(bytes32)").Bytes32(tenant).Encode()
	err = a.transactor.Client().Call(ctx, a.contract, call, func(returned []byte) (err error) {
		nonce, err = decodeUint(returned)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("read the nonce of tenant %s: %w", tenant, err)
	}
	return nonce, nil
}

// IsTenantSigner says whether an account may sign for a tenant.
func (a *RegistryAdmin) IsTenantSigner(ctx context.Context, tenant identity.Hash, signer chain.Address) (bool, error) {
	return chain.NewRegistry(a.transactor.Client(), a.contract).IsTenantSigner(ctx, tenant, signer)
}

// signed is the tenant's signature of a message for the tenant's next nonce.
func (a *RegistryAdmin) signed(ctx context.Context, tenant identity.Hash, message func(nonce uint64) identity.Hash) ([]byte, error) {
	nonce, err := a.Nonce(ctx, tenant)
	if err != nil {
		return nil, err
	}
	signature, err := Sign(ctx, a.tenant, message(nonce))
	if err != nil {
		return nil, err
	}
	return signature.Bytes(), nil
}

// signedFor is signed for the tenant that the agent was registered by.
func (a *RegistryAdmin) signedFor(ctx context.Context, agent identity.Hash, message func(nonce uint64) identity.Hash) ([]byte, error) {
	registration, err := chain.NewRegistry(a.transactor.Client(), a.contract).Registration(ctx, agent)
	if err != nil {
		return nil, err
	}
	if registration.RegisteredAt == 0 {
		return nil, fmt.Errorf("no agent %s is registered", agent)
	}
	return a.signed(ctx, registration.TenantID, message)
}

func (a *RegistryAdmin) send(ctx context.Context, call *Args, what string, whom identity.Hash) (Receipt, error) {
	receipt, err := a.transactor.Do(ctx, &a.contract, call.Encode())
	if err != nil {
		return receipt, fmt.Errorf("%s %s: %w", what, whom, err)
	}
	return receipt, nil
}
