// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {BrainMCPAgentRegistry as Registry} from "../src/BrainMCPAgentRegistry.sol";
import {RegistryFixture} from "./base/RegistryFixture.sol";

/// @dev Who may sign for a tenant, and how that list changes.
contract RegistrySignersTest is RegistryFixture {
    function test_constructorRefusesZeroAdmin() public {
        vm.expectRevert(Registry.ZeroAddress.selector);
        new Registry(address(0));
    }

    function test_adminNamesFirstSigner() public {
        address signer = vm.addr(SECOND_KEY);
        vm.expectEmit(true, true, true, true, address(registry));
        emit Registry.TenantSignerSet(OTHER_TENANT, signer, true);
        nameFirstSigner(OTHER_TENANT, SECOND_KEY);

        vm.assertEq(registry.admin(), ADMIN, "admin");
        vm.assertTrue(registry.isTenantSigner(OTHER_TENANT, signer), "signer of its tenant");
        vm.assertFalse(registry.isTenantSigner(TENANT, signer), "signer of another tenant");
        vm.assertEq(registry.signerCount(OTHER_TENANT), 1, "count");
        vm.assertEq(registry.nonces(OTHER_TENANT), 1, "the naming consumes a nonce");
    }

    function test_onlyAdminNamesFirstSigner() public {
        vm.prank(vm.addr(FIRST_KEY));
        vm.expectRevert(abi.encodeWithSelector(Registry.NotAdmin.selector, vm.addr(FIRST_KEY)));
        registry.setTenantSigner(OTHER_TENANT, vm.addr(FIRST_KEY), true, "");
    }

    function test_firstSignerIsPlainAddition() public {
        bytes memory refusal = abi.encodeWithSelector(Registry.FirstSignerIsPlainAddition.selector, OTHER_TENANT);
        vm.prank(ADMIN);
        vm.expectRevert(refusal);
        registry.setTenantSigner(OTHER_TENANT, vm.addr(FIRST_KEY), false, "");

        vm.prank(ADMIN);
        vm.expectRevert(refusal);
        registry.setTenantSigner(OTHER_TENANT, vm.addr(FIRST_KEY), true, hex"00");
    }

    /// @dev A signature made before the tenant existed here, for nonce 0.
    function test_nothingSignedBeforeTheFirstSignerCounts() public {
        bytes memory early = sign(SECOND_KEY, hashSetTenantSigner(OTHER_TENANT, vm.addr(STRANGER_KEY), true, 0));
        nameFirstSigner(OTHER_TENANT, SECOND_KEY);
        (bool ok,) = address(registry).call(
            abi.encodeCall(Registry.setTenantSigner, (OTHER_TENANT, vm.addr(STRANGER_KEY), true, early))
        );
        vm.assertFalse(ok, "signature for nonce 0 counted");
    }

    function test_adminNeverStepsInAgain() public {
        vm.prank(ADMIN);
        vm.expectRevert(abi.encodeWithSignature("ECDSAInvalidSignatureLength(uint256)", 0));
        registry.setTenantSigner(TENANT, vm.addr(SECOND_KEY), true, "");

        vm.prank(ADMIN);
        vm.expectRevert(abi.encodeWithSignature("ECDSAInvalidSignatureLength(uint256)", 0));
        registry.setTenantSigner(TENANT, vm.addr(FIRST_KEY), false, "");
    }

    function test_signerAddsSigner() public {
        address added = vm.addr(SECOND_KEY);
        bytes memory signature = signSet(FIRST_KEY, added, true);
        vm.expectEmit(true, true, true, true, address(registry));
        emit Registry.TenantSignerSet(TENANT, added, true);
        vm.prank(address(0x9999)); // anybody may carry the signature
        registry.setTenantSigner(TENANT, added, true, signature);
        vm.assertTrue(registry.isTenantSigner(TENANT, added), "added");
        vm.assertEq(registry.signerCount(TENANT), 2, "count");
        vm.assertEq(registry.nonces(TENANT), 2, "nonce");
    }

    function test_signerRemovesSigner() public {
        address second = vm.addr(SECOND_KEY);
        setSigner(FIRST_KEY, second, true);
        bytes memory signature = signSet(SECOND_KEY, vm.addr(FIRST_KEY), false);
        vm.expectEmit(true, true, true, true, address(registry));
        emit Registry.TenantSignerSet(TENANT, vm.addr(FIRST_KEY), false);
        registry.setTenantSigner(TENANT, vm.addr(FIRST_KEY), false, signature);
        vm.assertFalse(registry.isTenantSigner(TENANT, vm.addr(FIRST_KEY)), "removed");
        vm.assertTrue(registry.isTenantSigner(TENANT, second), "kept");
        vm.assertEq(registry.signerCount(TENANT), 1, "count");
    }

    function test_lastSignerStays() public {
        bytes memory signature = signSet(FIRST_KEY, vm.addr(FIRST_KEY), false);
        vm.expectRevert(abi.encodeWithSelector(Registry.LastSigner.selector, TENANT));
        registry.setTenantSigner(TENANT, vm.addr(FIRST_KEY), false, signature);
    }

    function test_unchangedSignerRefused() public {
        bytes memory again = signSet(FIRST_KEY, vm.addr(FIRST_KEY), true);
        vm.expectRevert(abi.encodeWithSelector(Registry.SignerUnchanged.selector, TENANT, vm.addr(FIRST_KEY)));
        registry.setTenantSigner(TENANT, vm.addr(FIRST_KEY), true, again);

        setSigner(FIRST_KEY, vm.addr(SECOND_KEY), true);
        bytes memory unknown = signSet(FIRST_KEY, vm.addr(STRANGER_KEY), false);
        vm.expectRevert(abi.encodeWithSelector(Registry.SignerUnchanged.selector, TENANT, vm.addr(STRANGER_KEY)));
        registry.setTenantSigner(TENANT, vm.addr(STRANGER_KEY), false, unknown);
    }

    function test_strangerSetsNobody() public {
        bytes memory signature = signSet(STRANGER_KEY, vm.addr(STRANGER_KEY), true);
        vm.expectRevert(notSigner(STRANGER_KEY));
        registry.setTenantSigner(TENANT, vm.addr(STRANGER_KEY), true, signature);
    }

    /// @dev A signer of one tenant is nobody at another.
    function test_signerOfAnotherTenantSetsNobody() public {
        nameFirstSigner(OTHER_TENANT, SECOND_KEY);
        bytes memory signature = signSet(SECOND_KEY, vm.addr(SECOND_KEY), true);
        vm.expectRevert(notSigner(SECOND_KEY));
        registry.setTenantSigner(TENANT, vm.addr(SECOND_KEY), true, signature);
    }

    function test_zeroesRefused() public {
        vm.prank(ADMIN);
        vm.expectRevert(Registry.ZeroTenantId.selector);
        registry.setTenantSigner(bytes32(0), vm.addr(FIRST_KEY), true, "");

        vm.prank(ADMIN);
        vm.expectRevert(Registry.ZeroAddress.selector);
        registry.setTenantSigner(OTHER_TENANT, address(0), true, "");
    }

    /// @dev The signature that added the signer does not add it a second time.
    function test_removedSignerDoesNotReturnByReplay() public {
        address second = vm.addr(SECOND_KEY);
        bytes memory adding = signSet(FIRST_KEY, second, true);
        registry.setTenantSigner(TENANT, second, true, adding);
        setSigner(FIRST_KEY, second, false);

        (bool ok,) = address(registry).call(abi.encodeCall(Registry.setTenantSigner, (TENANT, second, true, adding)));
        vm.assertFalse(ok, "replayed");
        vm.assertFalse(registry.isTenantSigner(TENANT, second), "came back");

        setSigner(FIRST_KEY, second, true);
        vm.assertTrue(registry.isTenantSigner(TENANT, second), "a fresh signature lets it back");
    }

    /// @dev What a signer signed and kept is worth nothing once it is removed.
    function test_removedSignerLeavesNoOpenSignature() public {
        address second = vm.addr(SECOND_KEY);
        setSigner(FIRST_KEY, second, true);
        uint256 next = registry.nonces(TENANT) + 1;
        bytes memory kept = sign(SECOND_KEY, hashSetTenantSigner(TENANT, vm.addr(STRANGER_KEY), true, next));
        setSigner(FIRST_KEY, second, false);

        vm.assertEq(registry.nonces(TENANT), next, "the kept signature names the current nonce");
        vm.expectRevert(notSigner(SECOND_KEY));
        registry.setTenantSigner(TENANT, vm.addr(STRANGER_KEY), true, kept);
    }
}
