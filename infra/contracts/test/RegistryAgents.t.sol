// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {BrainMCPAgentRegistry as Registry} from "../src/BrainMCPAgentRegistry.sol";
import {RegistryFixture} from "./base/RegistryFixture.sol";

/// @dev The life of an agent: registered, changed, revoked, gone for good.
contract RegistryAgentsTest is RegistryFixture {
    bytes32 internal constant NEW_BEHAVIOR = keccak256("behaviour two");

    function test_unknownAgentIsAllZeroIn224Bytes() public view {
        (bool ok, bytes memory raw) = address(registry).staticcall(abi.encodeCall(Registry.getAgent, (AGENT)));
        vm.assertTrue(ok, "call");
        vm.assertEq(raw, new bytes(224), "record");
        vm.assertFalse(registry.isAuthorized(AGENT, TENANT), "authorized");
        vm.assertFalse(registry.isAuthorized(AGENT, bytes32(0)), "authorized for tenant zero");
        vm.assertFalse(registry.isAuthorized(bytes32(0), bytes32(0)), "zero authorized for zero");
    }

    function test_registerStoresWhatWasSigned() public {
        bytes memory signature = signRegister(FIRST_KEY);
        vm.expectEmit(true, true, true, true, address(registry));
        emit Registry.AgentRegistered(AGENT, TENANT, AGENT_ADDRESS, SCOPES, BEHAVIOR);
        registry.registerAgent(AGENT, AGENT_ADDRESS, TENANT, SCOPES, BEHAVIOR, signature);

        (, bytes memory raw) = address(registry).staticcall(abi.encodeCall(Registry.getAgent, (AGENT)));
        bytes memory want = abi.encode(AGENT, AGENT_ADDRESS, TENANT, SCOPES, BEHAVIOR, START, uint256(0));
        vm.assertEq(raw, want, "record");
        vm.assertEq(raw.length, 224, "length");
        vm.assertTrue(registry.isAuthorized(AGENT, TENANT), "authorized");
        vm.assertFalse(registry.isAuthorized(AGENT, OTHER_TENANT), "authorized for another tenant");
        vm.assertEq(registry.nonces(TENANT), 2, "nonce");
    }

    function test_registerRefusesZeroes() public {
        bytes memory signature = new bytes(65);
        vm.expectRevert(Registry.ZeroAgentId.selector);
        registry.registerAgent(bytes32(0), AGENT_ADDRESS, TENANT, SCOPES, BEHAVIOR, signature);
        vm.expectRevert(Registry.ZeroAddress.selector);
        registry.registerAgent(AGENT, address(0), TENANT, SCOPES, BEHAVIOR, signature);
        vm.expectRevert(Registry.ZeroTenantId.selector);
        registry.registerAgent(AGENT, AGENT_ADDRESS, bytes32(0), SCOPES, BEHAVIOR, signature);
        vm.expectRevert(Registry.ZeroScopeHash.selector);
        registry.registerAgent(AGENT, AGENT_ADDRESS, TENANT, bytes32(0), BEHAVIOR, signature);
    }

    function test_registerRefusesStranger() public {
        bytes memory signature = signRegister(STRANGER_KEY);
        vm.expectRevert(notSigner(STRANGER_KEY));
        registry.registerAgent(AGENT, AGENT_ADDRESS, TENANT, SCOPES, BEHAVIOR, signature);
    }

    /// @dev Being the sender is worth nothing: not for the admin, not for a
    /// signer, not for the agent itself, at none of the four changes.
    function test_senderIsNoAuthority() public {
        bytes32 twin = keccak256("tnt_one/agent_two");
        uint256 nonce = registry.nonces(TENANT) + 1;
        register(FIRST_KEY);
        bytes memory naming = signSet(STRANGER_KEY, vm.addr(STRANGER_KEY), true);
        bytes memory registration =
            sign(STRANGER_KEY, hashRegisterAgent(twin, AGENT_ADDRESS, TENANT, SCOPES, BEHAVIOR, nonce));
        bytes memory update = signUpdate(STRANGER_KEY, NEW_BEHAVIOR);
        bytes memory revocation = signRevoke(STRANGER_KEY);
        address[4] memory senders = [ADMIN, vm.addr(FIRST_KEY), AGENT_ADDRESS, vm.addr(STRANGER_KEY)];
        for (uint256 i = 0; i < senders.length; ++i) {
            _expectRefusalOf(senders[i]);
            registry.setTenantSigner(TENANT, vm.addr(STRANGER_KEY), true, naming);
            _expectRefusalOf(senders[i]);
            registry.registerAgent(twin, AGENT_ADDRESS, TENANT, SCOPES, BEHAVIOR, registration);
            _expectRefusalOf(senders[i]);
            registry.updateBehaviorHash(AGENT, NEW_BEHAVIOR, update);
            _expectRefusalOf(senders[i]);
            registry.revokeAgent(AGENT, revocation);
        }
    }

    function test_registerIsOnce() public {
        register(FIRST_KEY);
        bytes memory signature = signRegister(FIRST_KEY);
        vm.expectRevert(abi.encodeWithSelector(Registry.AgentExists.selector, AGENT));
        registry.registerAgent(AGENT, AGENT_ADDRESS, TENANT, SCOPES, BEHAVIOR, signature);
    }

    /// @dev Neither does another tenant take over an id in use.
    function test_otherTenantDoesNotTakeOverAnId() public {
        register(FIRST_KEY);
        nameFirstSigner(OTHER_TENANT, SECOND_KEY);
        bytes memory signature =
            sign(SECOND_KEY, hashRegisterAgent(AGENT, AGENT_ADDRESS, OTHER_TENANT, SCOPES, BEHAVIOR, 1));
        vm.expectRevert(abi.encodeWithSelector(Registry.AgentExists.selector, AGENT));
        registry.registerAgent(AGENT, AGENT_ADDRESS, OTHER_TENANT, SCOPES, BEHAVIOR, signature);
    }

    function test_updateChangesTheBehaviorHashOnly() public {
        register(FIRST_KEY);
        bytes memory signature = signUpdate(FIRST_KEY, NEW_BEHAVIOR);
        vm.warp(START + 60);
        vm.expectEmit(true, true, true, true, address(registry));
        emit Registry.BehaviorHashUpdated(AGENT, TENANT, BEHAVIOR, NEW_BEHAVIOR);
        registry.updateBehaviorHash(AGENT, NEW_BEHAVIOR, signature);

        (, bytes memory raw) = address(registry).staticcall(abi.encodeCall(Registry.getAgent, (AGENT)));
        bytes memory want = abi.encode(AGENT, AGENT_ADDRESS, TENANT, SCOPES, NEW_BEHAVIOR, START, uint256(0));
        vm.assertEq(raw, want, "record");
        vm.assertEq(registry.nonces(TENANT), 3, "nonce");
    }

    function test_updateDoesNotReplay() public {
        register(FIRST_KEY);
        bytes memory first = signUpdate(FIRST_KEY, NEW_BEHAVIOR);
        registry.updateBehaviorHash(AGENT, NEW_BEHAVIOR, first);
        registry.updateBehaviorHash(AGENT, BEHAVIOR, signUpdate(FIRST_KEY, BEHAVIOR));
        (bool ok,) = address(registry).call(abi.encodeCall(Registry.updateBehaviorHash, (AGENT, NEW_BEHAVIOR, first)));
        vm.assertFalse(ok, "replayed");
        vm.assertEq(registry.getAgent(AGENT).behaviorHash, BEHAVIOR, "behavior");
    }

    function test_updateAndRevokeRefuseStranger() public {
        register(FIRST_KEY);
        bytes memory update = signUpdate(STRANGER_KEY, NEW_BEHAVIOR);
        vm.expectRevert(notSigner(STRANGER_KEY));
        registry.updateBehaviorHash(AGENT, NEW_BEHAVIOR, update);

        bytes memory revocation = signRevoke(STRANGER_KEY);
        vm.expectRevert(notSigner(STRANGER_KEY));
        registry.revokeAgent(AGENT, revocation);
    }

    function test_updateAndRevokeRefuseUnknownAgent() public {
        bytes memory unknown = abi.encodeWithSelector(Registry.AgentUnknown.selector, AGENT);
        vm.expectRevert(unknown);
        registry.updateBehaviorHash(AGENT, NEW_BEHAVIOR, new bytes(65));
        vm.expectRevert(unknown);
        registry.revokeAgent(AGENT, new bytes(65));
    }

    function test_revokeEndsTheAuthorization() public {
        register(FIRST_KEY);
        bytes memory signature = signRevoke(FIRST_KEY);
        vm.warp(START + 60);
        vm.expectEmit(true, true, true, true, address(registry));
        emit Registry.AgentRevoked(AGENT, TENANT);
        registry.revokeAgent(AGENT, signature);

        (, bytes memory raw) = address(registry).staticcall(abi.encodeCall(Registry.getAgent, (AGENT)));
        bytes memory want = abi.encode(AGENT, AGENT_ADDRESS, TENANT, SCOPES, BEHAVIOR, START, START + 60);
        vm.assertEq(raw, want, "record");
        vm.assertFalse(registry.isAuthorized(AGENT, TENANT), "authorized");
        vm.assertEq(registry.nonces(TENANT), 3, "nonce");
    }

    function test_revokedAgentChangesNoMore() public {
        register(FIRST_KEY);
        registry.revokeAgent(AGENT, signRevoke(FIRST_KEY));
        vm.warp(START + 3600);
        bytes memory revoked = abi.encodeWithSelector(Registry.AgentIsRevoked.selector, AGENT);

        bytes memory update = signUpdate(FIRST_KEY, NEW_BEHAVIOR);
        vm.expectRevert(revoked);
        registry.updateBehaviorHash(AGENT, NEW_BEHAVIOR, update);

        bytes memory again = signRevoke(FIRST_KEY);
        vm.expectRevert(revoked);
        registry.revokeAgent(AGENT, again);

        bytes memory registration = signRegister(FIRST_KEY);
        vm.expectRevert(abi.encodeWithSelector(Registry.AgentExists.selector, AGENT));
        registry.registerAgent(AGENT, AGENT_ADDRESS, TENANT, SCOPES, BEHAVIOR, registration);
        vm.assertEq(registry.getAgent(AGENT).revokedAt, START, "time of revocation");
    }

    function _expectRefusalOf(address sender) private {
        vm.prank(sender);
        vm.expectRevert(notSigner(STRANGER_KEY));
    }
}
