// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {BrainAuditAnchor} from "../src/BrainAuditAnchor.sol";
import {AnchorHandler} from "./base/AnchorHandler.sol";
import {Base} from "./base/Base.sol";

/// @dev What holds after any sequence of calls. That only the publisher
/// publishes is asserted in the handler, at each call.
contract AnchorInvariantTest is Base {
    BrainAuditAnchor internal anchors;
    AnchorHandler internal handler;

    function setUp() public {
        vm.warp(1_700_000_000);
        anchors = new BrainAuditAnchor(address(0xAC70));
        handler = new AnchorHandler(anchors);
    }

    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(handler);
    }

    function targetSelectors() public view returns (FuzzSelector[] memory targets) {
        bytes4[] memory selectors = new bytes4[](5);
        selectors[0] = AnchorHandler.anchor.selector;
        selectors[1] = AnchorHandler.anchorBatch.selector;
        selectors[2] = AnchorHandler.transferPublisher.selector;
        selectors[3] = AnchorHandler.acceptPublisher.selector;
        selectors[4] = AnchorHandler.passTime.selector;
        targets = new FuzzSelector[](1);
        targets[0] = FuzzSelector(address(handler), selectors);
    }

    /// @dev A root enters once per tenant and its record never changes after.
    function invariant_recordsAreThoseOfTheBook() public view {
        for (uint256 t = 0; t < handler.TENANTS(); ++t) {
            bytes32 tenantId = handler.tenant(t);
            for (uint256 r = 0; r < handler.ROOTS(); ++r) {
                bytes32 root = handler.root(r);
                BrainAuditAnchor.AnchorRecord memory want = handler.book(tenantId, root);
                vm.assertEq(abi.encode(anchors.anchorOf(tenantId, root)), abi.encode(want), "record");
                vm.assertEq(anchors.isPublished(tenantId, root), want.eventCount != 0, "published");
            }
            bytes32 latest = handler.bookLatest(tenantId);
            vm.assertEq(anchors.latestAnchor(tenantId), latest, "latest");
            bytes memory full = abi.encode(anchors.latestAnchorFull(tenantId));
            vm.assertEq(full, abi.encode(handler.book(tenantId, latest)), "latest record");
        }
    }

    function invariant_publisherIsThatOfTheBook() public view {
        vm.assertEq(anchors.publisher(), handler.bookPublisher(), "publisher");
        vm.assertEq(anchors.pendingPublisher(), handler.bookPending(), "pending publisher");
        vm.assertTrue(anchors.publisher() != address(0), "no publisher");
    }

    /// @dev The handler is able to do each thing.
    function test_handlerReachesEverything() public {
        for (uint256 i = 0; i < 60; ++i) {
            uint256 seed = uint256(keccak256(abi.encode(i)));
            handler.anchor(seed, seed >> 3);
            if (i % 4 == 0) handler.anchorBatch(seed, seed >> 5, (seed >> 7) % 53);
            handler.transferPublisher(seed >> 11, seed >> 13);
            handler.acceptPublisher(seed >> 17);
            handler.passTime(uint16(seed));
        }
        vm.assertTrue(handler.published() > 20, "published");
        vm.assertTrue(handler.skipped() > 20, "skipped");
        vm.assertTrue(handler.refused() > 20, "refused");
        vm.assertTrue(handler.rotations() > 5, "rotated");
        invariant_recordsAreThoseOfTheBook();
        invariant_publisherIsThatOfTheBook();
    }
}
