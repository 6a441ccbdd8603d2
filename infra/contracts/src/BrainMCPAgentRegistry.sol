// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";

/// @title Register of the agents that tenants have let in
/// @author RobotMoney
/// @notice A tenant says here which agents act for it and with which scopes.
/// Every change carries an EIP-712 signature of one of the tenant's allow-listed
/// signers; who sends the transaction does not matter, so a relayer can pay.
/// @dev Rules that readers rely on, each held by an invariant test:
/// a revoked agent stays revoked; tenant, address and scope hash never change
/// under an id; a signature counts once; a removed signer signs nothing.
///
/// Each change consumes one nonce of its tenant, in order. Sign only for the
/// current nonce: a signature made ahead for a later one is an open cheque until
/// that nonce is consumed or its signer is removed.
///
/// An id is taken by whoever registers it first. The contract cannot tell what
/// an id was hashed from, so a reader must compare every field of {getAgent} and
/// never take the existence of an id for a yes.
contract BrainMCPAgentRegistry is EIP712 {
    /// @notice One agent as its tenant registered it.
    /// @dev Static members only: the ABI encoding is exactly 224 bytes, and
    /// readers refuse any other length. Adding a member breaks every reader.
    struct AgentRegistration {
        bytes32 agentId;
        address agentAddress;
        bytes32 tenantId;
        bytes32 scopeHash;
        bytes32 behaviorHash;
        uint256 registeredAt;
        uint256 revokedAt;
    }

    /// @dev Hashes of the typed data. A change here makes every signer of ours
    /// sign something the contract no longer understands.
    bytes32 private constant _SET_TENANT_SIGNER_TYPEHASH =
        keccak256("SetTenantSigner(bytes32 tenantId,address signer,bool allowed,uint256 nonce)");
    bytes32 private constant _REGISTER_AGENT_TYPEHASH = keccak256(
        "RegisterAgent(bytes32 agentId,address agentAddress,bytes32 tenantId,"
        "bytes32 scopeHash,bytes32 behaviorHash,uint256 nonce)"
    );
    bytes32 private constant _UPDATE_BEHAVIOR_HASH_TYPEHASH =
        keccak256("UpdateBehaviorHash(bytes32 agentId,bytes32 behaviorHash,uint256 nonce)");
    bytes32 private constant _REVOKE_AGENT_TYPEHASH = keccak256("RevokeAgent(bytes32 agentId,uint256 nonce)");

    /// @notice The account that may name the first signer of a tenant, and
    /// nothing else, ever.
    address public immutable admin;

    /// @notice The nonce that the tenant's next change must be signed for.
    mapping(bytes32 tenantId => uint256 nonce) public nonces;

    /// @notice How many signers a tenant has; zero only before its first.
    mapping(bytes32 tenantId => uint256 count) public signerCount;

    /// @notice Whether an account may sign for a tenant.
    mapping(bytes32 tenantId => mapping(address signer => bool allowed)) public isTenantSigner;

    mapping(bytes32 agentId => AgentRegistration registration) private _agents;

    /// @notice A signer was added to a tenant's list or taken off it.
    /// @param tenantId The tenant whose list changed.
    /// @param signer The account that was added or removed.
    /// @param allowed True when added, false when removed.
    event TenantSignerSet(bytes32 indexed tenantId, address indexed signer, bool allowed);

    /// @notice An agent was registered.
    /// @param agentId The agent's id, taken for good.
    /// @param tenantId The tenant that the agent acts for.
    /// @param agentAddress The agent's own account.
    /// @param scopeHash Hash of the scopes granted, fixed for good.
    /// @param behaviorHash Hash of the agent's declared behaviour.
    event AgentRegistered(
        bytes32 indexed agentId,
        bytes32 indexed tenantId,
        address indexed agentAddress,
        bytes32 scopeHash,
        bytes32 behaviorHash
    );

    /// @notice The declared behaviour of an agent changed.
    /// @param agentId The agent.
    /// @param tenantId Its tenant.
    /// @param previousHash The hash that held until now.
    /// @param behaviorHash The hash that holds from now on.
    event BehaviorHashUpdated(
        bytes32 indexed agentId,
        bytes32 indexed tenantId,
        bytes32 previousHash,
        bytes32 behaviorHash
    );

    /// @notice An agent was revoked, for good.
    /// @param agentId The agent.
    /// @param tenantId Its tenant.
    event AgentRevoked(bytes32 indexed agentId, bytes32 indexed tenantId);

    /// @notice The zero address is neither an admin, a signer nor an agent.
    error ZeroAddress();

    /// @notice An agent id of zero would look like an unknown agent.
    error ZeroAgentId();

    /// @notice A tenant id of zero would match the record of an unknown agent.
    error ZeroTenantId();

    /// @notice A scope hash of zero binds no scope.
    error ZeroScopeHash();

    /// @notice Only the admin names the first signer of a tenant.
    /// @param sender The account that tried.
    error NotAdmin(address sender);

    /// @notice The first signer is added by the admin's own call: a removal or
    /// a signature has no meaning there.
    /// @param tenantId The tenant without a signer.
    error FirstSignerIsPlainAddition(bytes32 tenantId);

    /// @notice The signature is of an account that may not sign for the tenant,
    /// or of other data or another nonce than those of this call.
    /// @param tenantId The tenant the change belongs to.
    /// @param recovered The account the signature leads to.
    error NotTenantSigner(bytes32 tenantId, address recovered);

    /// @notice The signer already is what the call would make it.
    /// @param tenantId The tenant.
    /// @param signer The account.
    error SignerUnchanged(bytes32 tenantId, address signer);

    /// @notice Without its last signer a tenant could never change anything
    /// again, not even revoke an agent.
    /// @param tenantId The tenant.
    error LastSigner(bytes32 tenantId);

    /// @notice The id was registered before; revoked ids stay taken.
    /// @param agentId The id.
    error AgentExists(bytes32 agentId);

    /// @notice No agent has this id.
    /// @param agentId The id.
    error AgentUnknown(bytes32 agentId);

    /// @notice The agent is revoked and changes no more.
    /// @param agentId The id.
    error AgentIsRevoked(bytes32 agentId);

    /// @notice Fixes the admin and the EIP-712 domain of this contract.
    /// @param initialAdmin The account that names the first signer of each tenant.
    constructor(address initialAdmin) EIP712("BrainMCPAgentRegistry", "1") {
        if (initialAdmin == address(0)) revert ZeroAddress();
        admin = initialAdmin;
    }

    /// @notice Adds a signer to a tenant's list, or takes one off it.
    /// @dev A tenant without a signer takes its first from the admin's own call
    /// with an empty signature. The last signer cannot be removed, so that door
    /// never opens again.
    /// @param tenantId The tenant.
    /// @param signer The account to add or remove.
    /// @param allowed True to add, false to remove.
    /// @param signature 65 bytes r, s, v of a signer of the tenant over SetTenantSigner.
    function setTenantSigner(bytes32 tenantId, address signer, bool allowed, bytes calldata signature) external {
        if (tenantId == bytes32(0)) revert ZeroTenantId();
        if (signer == address(0)) revert ZeroAddress();

        uint256 nonce = _useNonce(tenantId);
        uint256 count = signerCount[tenantId];
        if (count == 0) {
            _requireFirstSigner(tenantId, allowed, signature);
        } else {
            _requireTenantSigner(
                tenantId,
                keccak256(abi.encode(_SET_TENANT_SIGNER_TYPEHASH, tenantId, signer, allowed, nonce)),
                signature
            );
            if (isTenantSigner[tenantId][signer] == allowed) revert SignerUnchanged(tenantId, signer);
            if (!allowed && count == 1) revert LastSigner(tenantId);
        }

        isTenantSigner[tenantId][signer] = allowed;
        signerCount[tenantId] = allowed ? count + 1 : count - 1;
        emit TenantSignerSet(tenantId, signer, allowed);
    }

    /// @notice Registers an agent of a tenant under an id never used before.
    /// @param agentId The agent's id.
    /// @param agentAddress The agent's own account.
    /// @param tenantId The tenant the agent acts for.
    /// @param scopeHash Hash of the scopes granted; other scopes need another id.
    /// @param behaviorHash Hash of the declared behaviour; zero when none is declared.
    /// @param signature 65 bytes r, s, v of a signer of the tenant over RegisterAgent.
    function registerAgent(
        bytes32 agentId,
        address agentAddress,
        bytes32 tenantId,
        bytes32 scopeHash,
        bytes32 behaviorHash,
        bytes calldata signature
    ) external {
        if (agentId == bytes32(0)) revert ZeroAgentId();
        if (agentAddress == address(0)) revert ZeroAddress();
        if (tenantId == bytes32(0)) revert ZeroTenantId();
        if (scopeHash == bytes32(0)) revert ZeroScopeHash();
        if (_agents[agentId].registeredAt != 0) revert AgentExists(agentId);

        _requireTenantSigner(
            tenantId,
            keccak256(
                abi.encode(
                    _REGISTER_AGENT_TYPEHASH,
                    agentId,
                    agentAddress,
                    tenantId,
                    scopeHash,
                    behaviorHash,
                    _useNonce(tenantId)
                )
            ),
            signature
        );

        _agents[agentId] = AgentRegistration({
            agentId: agentId,
            agentAddress: agentAddress,
            tenantId: tenantId,
            scopeHash: scopeHash,
            behaviorHash: behaviorHash,
            registeredAt: block.timestamp,
            revokedAt: 0
        });
        emit AgentRegistered({
            agentId: agentId,
            tenantId: tenantId,
            agentAddress: agentAddress,
            scopeHash: scopeHash,
            behaviorHash: behaviorHash
        });
    }

    /// @notice Replaces the hash of an agent's declared behaviour.
    /// @param agentId The agent.
    /// @param behaviorHash The new hash; zero when none is declared any more.
    /// @param signature 65 bytes r, s, v of a signer of the agent's tenant over UpdateBehaviorHash.
    function updateBehaviorHash(bytes32 agentId, bytes32 behaviorHash, bytes calldata signature) external {
        AgentRegistration storage agent = _standing(agentId);
        bytes32 tenantId = agent.tenantId;
        _requireTenantSigner(
            tenantId,
            keccak256(abi.encode(_UPDATE_BEHAVIOR_HASH_TYPEHASH, agentId, behaviorHash, _useNonce(tenantId))),
            signature
        );

        bytes32 previousHash = agent.behaviorHash;
        agent.behaviorHash = behaviorHash;
        emit BehaviorHashUpdated({
            agentId: agentId,
            tenantId: tenantId,
            previousHash: previousHash,
            behaviorHash: behaviorHash
        });
    }

    /// @notice Revokes an agent. Nothing undoes it and the id stays taken.
    /// @param agentId The agent.
    /// @param signature 65 bytes r, s, v of a signer of the agent's tenant over RevokeAgent.
    function revokeAgent(bytes32 agentId, bytes calldata signature) external {
        AgentRegistration storage agent = _standing(agentId);
        bytes32 tenantId = agent.tenantId;
        _requireTenantSigner(
            tenantId,
            keccak256(abi.encode(_REVOKE_AGENT_TYPEHASH, agentId, _useNonce(tenantId))),
            signature
        );

        agent.revokedAt = block.timestamp;
        emit AgentRevoked(agentId, tenantId);
    }

    /// @notice The record of an agent, all zero for an id never registered.
    /// @param agentId The agent.
    /// @return The record, 224 bytes on the wire.
    function getAgent(bytes32 agentId) external view returns (AgentRegistration memory) {
        return _agents[agentId];
    }

    /// @notice Whether an agent is registered for a tenant and not revoked.
    /// @dev Says nothing of the scopes: compare the scope hash of {getAgent}.
    /// @param agentId The agent.
    /// @param tenantId The tenant it should act for.
    /// @return True when the agent stands and belongs to the tenant.
    function isAuthorized(bytes32 agentId, bytes32 tenantId) external view returns (bool) {
        AgentRegistration storage agent = _agents[agentId];
        return agent.registeredAt != 0 && agent.revokedAt == 0 && agent.tenantId == tenantId;
    }

    /// @dev Gives the tenant's nonce and moves it on. A revert further down
    /// takes the step back with everything else.
    function _useNonce(bytes32 tenantId) private returns (uint256 nonce) {
        nonce = nonces[tenantId];
        nonces[tenantId] = nonce + 1;
    }

    /// @dev Reverts unless the call is the admin's naming of a first signer.
    function _requireFirstSigner(bytes32 tenantId, bool allowed, bytes calldata signature) private view {
        if (msg.sender != admin) revert NotAdmin(msg.sender);
        if (!allowed || signature.length != 0) revert FirstSignerIsPlainAddition(tenantId);
    }

    /// @dev Reverts unless the signature over the typed data is of an account
    /// that may sign for the tenant now. ECDSA refuses the high half of s, any
    /// length but 65 and a recovery to the zero address.
    function _requireTenantSigner(bytes32 tenantId, bytes32 structHash, bytes calldata signature) private view {
        address recovered = ECDSA.recoverCalldata(_hashTypedDataV4(structHash), signature);
        if (!isTenantSigner[tenantId][recovered]) revert NotTenantSigner(tenantId, recovered);
    }

    /// @dev The record of an agent that is registered and not revoked.
    function _standing(bytes32 agentId) private view returns (AgentRegistration storage agent) {
        agent = _agents[agentId];
        if (agent.registeredAt == 0) revert AgentUnknown(agentId);
        if (agent.revokedAt != 0) revert AgentIsRevoked(agentId);
    }
}
