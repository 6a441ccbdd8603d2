// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {BrainMCPAgentRegistry as Registry} from "../../src/BrainMCPAgentRegistry.sol";
import {RegistrySigning} from "./RegistrySigning.sol";

/// @dev Plays tenants, signers, thieves and an admin against a registry, and
/// keeps a second book: what the rules say must have happened. Each call is
/// judged by the book before it is made, and the registry must agree.
///
/// Few tenants, keys and agents, so that calls meet; signatures may be kept back
/// and handed in later, and every one handed in is handed in again.
contract RegistryHandler is RegistrySigning {
    enum Kind {
        SetSigner,
        Register,
        Update,
        Revoke
    }

    /// @dev A signed change, handed in now or later.
    struct Draft {
        Kind kind;
        bytes32 tenantId;
        bytes32 agentId;
        address account; // signer to set, or the agent's address
        bool allowed;
        bytes32 scopeHash;
        bytes32 behaviorHash;
        uint256 nonce;
        uint256 key;
    }

    address public constant ADMIN = address(0xAD);
    uint256 public constant TENANTS = 2;
    uint256 public constant KEYS = 4;
    uint256 public constant AGENTS = 4;

    Registry public immutable registry;

    /// @dev The book.
    mapping(bytes32 tenantId => mapping(address signer => bool allowed)) public bookSigner;
    mapping(bytes32 tenantId => uint256 count) public bookCount;
    mapping(bytes32 tenantId => uint256 nonce) public bookNonce;
    mapping(bytes32 agentId => Registry.AgentRegistration registration) private _book;

    /// @dev Signatures that counted, and the nonce at which a signer was removed.
    mapping(bytes32 signatureHash => bool used) public counted;
    mapping(bytes32 tenantId => mapping(address signer => uint256 nonce)) public removedAt;

    /// @dev How often each kind went through, kept back and replayed: the reach
    /// test sees from it that the runs are not idle.
    mapping(Kind kind => uint256 count) public succeeded;
    uint256 public replays;

    Draft[] private _kept;
    bytes[] private _spent;
    uint256 private _handedIn;

    constructor(Registry subject) {
        registry = subject;
    }

    // What a run may do.

    /// @dev The admin tries to name a signer, which works once per tenant.
    function adminNames(uint256 tenantSeed, uint256 keySeed, bool allowed) external {
        _adminNames(ADMIN, tenant(tenantSeed), vm.addr(keyOf(keySeed)), allowed);
    }

    /// @dev Anybody tries the same.
    function strangerNames(address sender, uint256 tenantSeed, uint256 keySeed) external {
        _adminNames(sender, tenant(tenantSeed), vm.addr(keyOf(keySeed)), true);
    }

    function setSigner(uint256 seed, uint256 keySeed, bool allowed, bool keep) external {
        Draft memory d = _draft(Kind.SetSigner, tenant(seed), seed);
        d.account = vm.addr(keyOf(keySeed));
        d.allowed = allowed;
        _handInOrKeep(d, keep);
    }

    function register(uint256 seed, uint256 agentSeed, bytes32 scopeHash, bytes32 behaviorHash, bool keep) external {
        Draft memory d = _draft(Kind.Register, tenant(seed), seed);
        d.agentId = agent(agentSeed);
        d.account = address(uint160(uint256(keccak256(abi.encode(seed))) | 1));
        d.scopeHash = scopeHash == 0 ? bytes32(uint256(1)) : scopeHash;
        d.behaviorHash = behaviorHash;
        _handInOrKeep(d, keep);
    }

    function update(uint256 seed, uint256 agentSeed, bytes32 behaviorHash, bool keep) external {
        Draft memory d = _draft(Kind.Update, _tenantOf(agent(agentSeed), seed), seed);
        d.agentId = agent(agentSeed);
        d.behaviorHash = behaviorHash;
        _handInOrKeep(d, keep);
    }

    function revoke(uint256 seed, uint256 agentSeed, bool keep) external {
        Draft memory d = _draft(Kind.Revoke, _tenantOf(agent(agentSeed), seed), seed);
        d.agentId = agent(agentSeed);
        _handInOrKeep(d, keep);
    }

    /// @dev Hands in a signature kept back earlier; its signer may be gone by now.
    function handInKept(uint256 seed) external {
        if (_kept.length == 0) return;
        _handIn(_kept[seed % _kept.length]);
    }

    /// @dev Sends a call again that went through before, whoever may be the sender.
    function replay(uint256 seed, address sender) external {
        if (_spent.length == 0) return;
        vm.prank(sender);
        (bool ok,) = address(registry).call(_spent[seed % _spent.length]);
        vm.assertFalse(ok, "a signature counted twice");
        ++replays;
    }

    function passTime(uint16 secs) external {
        vm.warp(block.timestamp + secs);
    }

    // What the invariants read.

    function tenant(uint256 seed) public pure returns (bytes32) {
        return keccak256(abi.encode("tenant", seed % TENANTS));
    }

    function agent(uint256 seed) public pure returns (bytes32) {
        return keccak256(abi.encode("agent", seed % AGENTS));
    }

    function keyOf(uint256 seed) public pure returns (uint256) {
        return 1000 + (seed % KEYS);
    }

    function book(bytes32 agentId) external view returns (Registry.AgentRegistration memory) {
        return _book[agentId];
    }

    // How it is done.

    function _adminNames(address sender, bytes32 tenantId, address signer, bool allowed) private {
        bool want = sender == ADMIN && allowed && bookCount[tenantId] == 0;
        vm.prank(sender);
        (bool ok,) =
            address(registry).call(abi.encodeCall(Registry.setTenantSigner, (tenantId, signer, allowed, "")));
        vm.assertEq(ok, want, "naming of a first signer");
        if (ok) _bookSigner(tenantId, signer, true);
    }

    /// @dev Mostly a signer of the tenant and the current nonce; at times
    /// another key, or a nonce before or after.
    function _draft(Kind kind, bytes32 tenantId, uint256 seed) private view returns (Draft memory d) {
        uint256 entropy = uint256(keccak256(abi.encode(seed)));
        d.kind = kind;
        d.tenantId = tenantId;
        d.key = keyOf(entropy);
        for (uint256 i = 0; entropy % 5 != 0 && i < KEYS && !bookSigner[tenantId][vm.addr(d.key)]; ++i) {
            d.key = keyOf(d.key - 1000 + 1);
        }
        d.nonce = bookNonce[tenantId];
        uint256 shift = (entropy >> 128) % 12;
        if (shift == 0) d.nonce += 1;
        if (shift == 1) d.nonce += 2;
        if (shift == 2 && d.nonce > 0) d.nonce -= 1;
    }

    /// @dev Mostly the agent's own tenant, at times whichever.
    function _tenantOf(bytes32 agentId, uint256 seed) private view returns (bytes32) {
        bytes32 own = _book[agentId].tenantId;
        return own == 0 || seed % 7 == 0 ? tenant(seed) : own;
    }

    function _handInOrKeep(Draft memory d, bool keep) private {
        if (keep) _kept.push(d);
        else _handIn(d);
    }

    function _handIn(Draft memory d) private {
        bytes memory signature = _signature(d);
        bytes memory data = _call(d, signature);
        bool want = _allowed(d);
        vm.prank(_carrier());
        (bool ok,) = address(registry).call(data);
        vm.assertEq(ok, want, "the registry and the book disagree");
        if (!ok) return;
        vm.assertFalse(counted[keccak256(signature)], "a signature counted twice");
        counted[keccak256(signature)] = true;
        _spent.push(data);
        ++succeeded[d.kind];
        _enter(d);
    }

    /// @dev Who sends the transaction: the admin, one of the keys or a stranger.
    /// It must make no difference.
    function _carrier() private returns (address) {
        uint256 pick = uint256(keccak256(abi.encode(++_handedIn))) % (KEYS + 2);
        if (pick == KEYS) return ADMIN;
        return pick < KEYS ? vm.addr(keyOf(pick)) : address(0x57A);
    }

    /// @dev The rules, in the order of a reader: who, when, what.
    function _allowed(Draft memory d) private view returns (bool) {
        Registry.AgentRegistration memory a = _book[d.agentId];
        bytes32 tenantId = d.kind == Kind.Update || d.kind == Kind.Revoke ? a.tenantId : d.tenantId;
        if (!bookSigner[tenantId][vm.addr(d.key)] || d.nonce != bookNonce[tenantId]) return false;
        if (d.kind == Kind.SetSigner) {
            bool last = !d.allowed && bookCount[tenantId] == 1;
            return bookSigner[tenantId][d.account] != d.allowed && !last;
        }
        if (d.kind == Kind.Register) return a.registeredAt == 0;
        return a.registeredAt != 0 && a.revokedAt == 0;
    }

    function _enter(Draft memory d) private {
        if (d.kind == Kind.SetSigner) {
            bool back = d.allowed && removedAt[d.tenantId][d.account] != 0;
            if (back) vm.assertTrue(d.nonce > removedAt[d.tenantId][d.account], "back by an old signature");
            if (!d.allowed) removedAt[d.tenantId][d.account] = d.nonce;
            _bookSigner(d.tenantId, d.account, d.allowed);
            return;
        }
        if (d.kind == Kind.Register) {
            _book[d.agentId] = Registry.AgentRegistration(
                d.agentId, d.account, d.tenantId, d.scopeHash, d.behaviorHash, block.timestamp, 0
            );
        }
        if (d.kind == Kind.Update) _book[d.agentId].behaviorHash = d.behaviorHash;
        if (d.kind == Kind.Revoke) _book[d.agentId].revokedAt = block.timestamp;
        ++bookNonce[_book[d.agentId].tenantId];
    }

    function _bookSigner(bytes32 tenantId, address signer, bool allowed) private {
        bookSigner[tenantId][signer] = allowed;
        bookCount[tenantId] = allowed ? bookCount[tenantId] + 1 : bookCount[tenantId] - 1;
        ++bookNonce[tenantId];
    }

    function _signature(Draft memory d) private view returns (bytes memory) {
        bytes32 hash;
        if (d.kind == Kind.SetSigner) hash = hashSetTenantSigner(d.tenantId, d.account, d.allowed, d.nonce);
        if (d.kind == Kind.Update) hash = hashUpdateBehaviorHash(d.agentId, d.behaviorHash, d.nonce);
        if (d.kind == Kind.Revoke) hash = hashRevokeAgent(d.agentId, d.nonce);
        if (d.kind == Kind.Register) {
            hash = hashRegisterAgent(d.agentId, d.account, d.tenantId, d.scopeHash, d.behaviorHash, d.nonce);
        }
        return signStruct(d.key, domainSeparator(block.chainid, address(registry)), hash);
    }

    function _call(Draft memory d, bytes memory signature) private pure returns (bytes memory) {
        if (d.kind == Kind.SetSigner) {
            return abi.encodeCall(Registry.setTenantSigner, (d.tenantId, d.account, d.allowed, signature));
        }
        if (d.kind == Kind.Register) {
            return abi.encodeCall(
                Registry.registerAgent, (d.agentId, d.account, d.tenantId, d.scopeHash, d.behaviorHash, signature)
            );
        }
        if (d.kind == Kind.Update) {
            return abi.encodeCall(Registry.updateBehaviorHash, (d.agentId, d.behaviorHash, signature));
        }
        return abi.encodeCall(Registry.revokeAgent, (d.agentId, signature));
    }
}
