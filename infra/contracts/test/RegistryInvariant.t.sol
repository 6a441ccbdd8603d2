// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {BrainMCPAgentRegistry as Registry} from "../src/BrainMCPAgentRegistry.sol";
import {Base} from "./base/Base.sol";
import {RegistryHandler} from "./base/RegistryHandler.sol";

/// @dev What holds after any sequence of calls. That no signature counts twice
/// and that the registry follows the rules call by call is asserted in the
/// handler, at each call.
contract RegistryInvariantTest is Base {
    Registry internal registry;
    RegistryHandler internal handler;

    function setUp() public {
        vm.warp(1_700_000_000);
        registry = new Registry(address(0xAD));
        handler = new RegistryHandler(registry);
    }

    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(handler);
    }

    function targetSelectors() public view returns (FuzzSelector[] memory targets) {
        bytes4[] memory selectors = new bytes4[](9);
        selectors[0] = RegistryHandler.adminNames.selector;
        selectors[1] = RegistryHandler.strangerNames.selector;
        selectors[2] = RegistryHandler.setSigner.selector;
        selectors[3] = RegistryHandler.register.selector;
        selectors[4] = RegistryHandler.update.selector;
        selectors[5] = RegistryHandler.revoke.selector;
        selectors[6] = RegistryHandler.handInKept.selector;
        selectors[7] = RegistryHandler.replay.selector;
        selectors[8] = RegistryHandler.passTime.selector;
        targets = new FuzzSelector[](1);
        targets[0] = FuzzSelector(address(handler), selectors);
    }

    /// @dev Revoked stays revoked; scope hash, tenant, address and time of
    /// registration never change under an id: the book writes each of them once.
    function invariant_recordsAreThoseOfTheBook() public view {
        for (uint256 i = 0; i < handler.AGENTS(); ++i) {
            bytes32 id = handler.agent(i);
            Registry.AgentRegistration memory want = handler.book(id);
            vm.assertEq(abi.encode(registry.getAgent(id)), abi.encode(want), "record");
            bool stands = want.registeredAt != 0 && want.revokedAt == 0;
            for (uint256 t = 0; t < handler.TENANTS(); ++t) {
                bytes32 tenantId = handler.tenant(t);
                bool authorized = stands && want.tenantId == tenantId;
                vm.assertEq(registry.isAuthorized(id, tenantId), authorized, "authorized");
            }
        }
    }

    /// @dev The lists, and each nonce counts the tenant's changes one by one.
    function invariant_signersAreThoseOfTheBook() public view {
        for (uint256 t = 0; t < handler.TENANTS(); ++t) {
            bytes32 tenantId = handler.tenant(t);
            uint256 count = 0;
            for (uint256 k = 0; k < handler.KEYS(); ++k) {
                address signer = vm.addr(handler.keyOf(k));
                vm.assertEq(registry.isTenantSigner(tenantId, signer), handler.bookSigner(tenantId, signer), "signer");
                if (registry.isTenantSigner(tenantId, signer)) ++count;
            }
            vm.assertEq(registry.signerCount(tenantId), count, "count");
            vm.assertEq(registry.nonces(tenantId), handler.bookNonce(tenantId), "nonce");
            vm.assertTrue(count > 0 || registry.nonces(tenantId) == 0, "a tenant lost its last signer");
        }
    }

    /// @dev The handler is able to do each thing: invariants over runs in which
    /// nothing succeeds would prove nothing.
    function test_handlerReachesEveryKind() public {
        handler.adminNames(0, 0, true);
        handler.adminNames(1, 1, true);
        for (uint256 i = 0; i < 120; ++i) {
            uint256 seed = uint256(keccak256(abi.encode(i)));
            handler.setSigner(seed, seed >> 8, seed % 3 != 0, i % 6 == 0);
            handler.register(seed, seed >> 16, bytes32(seed), bytes32(i), i % 6 == 1);
            handler.update(seed, seed >> 24, bytes32(seed), i % 6 == 2);
            if (i % 10 == 9) handler.revoke(seed, seed >> 32, i % 20 == 9);
            handler.handInKept(seed);
            handler.replay(seed, address(uint160(seed)));
            handler.passTime(uint16(seed));
        }
        vm.assertTrue(handler.succeeded(RegistryHandler.Kind.SetSigner) > 10, "signers set");
        vm.assertTrue(handler.succeeded(RegistryHandler.Kind.Register) > 2, "registered");
        vm.assertTrue(handler.succeeded(RegistryHandler.Kind.Update) > 5, "updated");
        vm.assertTrue(handler.succeeded(RegistryHandler.Kind.Revoke) > 1, "revoked");
        vm.assertTrue(handler.replays() > 100, "replayed");
        invariant_recordsAreThoseOfTheBook();
        invariant_signersAreThoseOfTheBook();
    }
}
