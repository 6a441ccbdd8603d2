package tx

import (
	"slices"

	"github.com/robotmoney/mcp/shared/domain/identity"
	"github.com/robotmoney/mcp/shared/platform/chain"
)

// The EIP-712 types of the registry contract. One letter changed here makes
// every signature refused.
const (
	domainType             = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
	domainName             = "BrainMCPAgentRegistry"
	domainVersion          = "1"
	setTenantSignerType    = "SetTenantSigner(bytes32 tenantId,address signer,bool allowed,uint256 nonce)"
	registerAgentType      = "RegisterAgent(bytes32 agentId,address agentAddress,bytes32 tenantId,bytes32 scopeHash,bytes32 behaviorHash,uint256 nonce)"
	updateBehaviorHashType = "UpdateBehaviorHash(bytes32 agentId,bytes32 behaviorHash,uint256 nonce)"
	revokeAgentType        = "RevokeAgent(bytes32 agentId,uint256 nonce)"
)

// Domain binds a message to one registry on one chain: signed for a test chain,
// it is worth nothing on another.
type Domain struct {
	ChainID  uint64
	Contract chain.Address
}

// Separator is the hash of the domain.
func (d Domain) Separator() identity.Hash {
	name, version := identity.Keccak([]byte(domainName)), identity.Keccak([]byte(domainVersion))
	return hashStruct(domainType, new(Args).Bytes32(name).Bytes32(version).Uint(d.ChainID).Address(d.Contract))
}

// Agent is what a registration says of an agent.
type Agent struct {
	ID           identity.Hash
	Address      chain.Address
	TenantID     identity.Hash
	ScopeHash    identity.Hash
	BehaviorHash identity.Hash
}

// SetTenantSigner is the digest that allows or forbids a signer for a tenant.
// The nonce of this and the other messages is the tenant's counter in the contract.
func (d Domain) SetTenantSigner(tenant identity.Hash, signer chain.Address, allowed bool, nonce uint64) identity.Hash {
	return d.digest(setTenantSignerType, new(Args).Bytes32(tenant).Address(signer).Bool(allowed).Uint(nonce))
}

// RegisterAgent is the digest that registers an agent.
func (d Domain) RegisterAgent(a Agent, nonce uint64) identity.Hash {
	return d.digest(registerAgentType, new(Args).agent(a).Uint(nonce))
}

// UpdateBehaviorHash is the digest that gives an agent another behaviour hash.
func (d Domain) UpdateBehaviorHash(agent, behavior identity.Hash, nonce uint64) identity.Hash {
	return d.digest(updateBehaviorHashType, new(Args).Bytes32(agent).Bytes32(behavior).Uint(nonce))
}

// RevokeAgent is the digest that revokes an agent for ever.
func (d Domain) RevokeAgent(agent identity.Hash, nonce uint64) identity.Hash {
	return d.digest(revokeAgentType, new(Args).Bytes32(agent).Uint(nonce))
}

// agent adds an agent's fields in the order that the call and the message share.
func (a *Args) agent(g Agent) *Args {
	return a.Bytes32(g.ID).Address(g.Address).Bytes32(g.TenantID).Bytes32(g.ScopeHash).Bytes32(g.BehaviorHash)
}

func (d Domain) digest(typ string, fields *Args) identity.Hash {
	separator, message := d.Separator(), hashStruct(typ, fields)
	return identity.Keccak(slices.Concat([]byte{0x19, 0x01}, separator[:], message[:]))
}

// hashStruct hashes a struct whose fields are all static.
func hashStruct(typ string, fields *Args) identity.Hash {
	kind := identity.Keccak([]byte(typ))
	return identity.Keccak(append(kind[:], fields.Encode()...))
}
