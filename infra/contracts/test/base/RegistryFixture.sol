// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {BrainMCPAgentRegistry as Registry} from "../../src/BrainMCPAgentRegistry.sol";
import {RegistrySigning} from "./RegistrySigning.sol";

/// @dev A registry with one tenant, its first signer and the calls to use it.
abstract contract RegistryFixture is RegistrySigning {
    address internal constant ADMIN = address(0xAD);
    address internal constant AGENT_ADDRESS = address(0xA6E);
    bytes32 internal constant TENANT = keccak256("tnt_one");
    bytes32 internal constant OTHER_TENANT = keccak256("tnt_two");
    bytes32 internal constant AGENT = keccak256("tnt_one/agent_one");
    bytes32 internal constant SCOPES = keccak256("ledger:read|wiki:read");
    bytes32 internal constant BEHAVIOR = keccak256("behaviour one");
    uint256 internal constant FIRST_KEY = 0xA11CE;
    uint256 internal constant SECOND_KEY = 0xB0B;
    uint256 internal constant STRANGER_KEY = 0xBAD;
    uint256 internal constant START = 1_700_000_000;

    Registry internal registry;

    function setUp() public virtual {
        vm.warp(START);
        registry = new Registry(ADMIN);
        nameFirstSigner(TENANT, FIRST_KEY);
    }

    function nameFirstSigner(bytes32 tenantId, uint256 key) internal {
        vm.prank(ADMIN);
        registry.setTenantSigner(tenantId, vm.addr(key), true, "");
    }

    function domain() internal view returns (bytes32) {
        return domainSeparator(block.chainid, address(registry));
    }

    function sign(uint256 key, bytes32 structHash) internal view returns (bytes memory) {
        return signStruct(key, domain(), structHash);
    }

    function signSet(uint256 key, address signer, bool allowed) internal view returns (bytes memory) {
        return sign(key, hashSetTenantSigner(TENANT, signer, allowed, registry.nonces(TENANT)));
    }

    function signRegister(uint256 key) internal view returns (bytes memory) {
        uint256 nonce = registry.nonces(TENANT);
        return sign(key, hashRegisterAgent(AGENT, AGENT_ADDRESS, TENANT, SCOPES, BEHAVIOR, nonce));
    }

    function signUpdate(uint256 key, bytes32 behaviorHash) internal view returns (bytes memory) {
        return sign(key, hashUpdateBehaviorHash(AGENT, behaviorHash, registry.nonces(TENANT)));
    }

    function signRevoke(uint256 key) internal view returns (bytes memory) {
        return sign(key, hashRevokeAgent(AGENT, registry.nonces(TENANT)));
    }

    function register(uint256 key) internal {
        registry.registerAgent(AGENT, AGENT_ADDRESS, TENANT, SCOPES, BEHAVIOR, signRegister(key));
    }

    function setSigner(uint256 key, address signer, bool allowed) internal {
        registry.setTenantSigner(TENANT, signer, allowed, signSet(key, signer, allowed));
    }

    function notSigner(uint256 key) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(Registry.NotTenantSigner.selector, TENANT, vm.addr(key));
    }
}
