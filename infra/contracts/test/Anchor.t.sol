// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {BrainAuditAnchor} from "../src/BrainAuditAnchor.sol";
import {Base} from "./base/Base.sol";

/// @dev Publishing roots, and who may.
contract AnchorTest is Base {
    address internal constant PUBLISHER = address(0xB1);
    address internal constant SUCCESSOR = address(0xB2);
    address internal constant STRANGER = address(0xBAD);
    bytes32 internal constant TENANT = keccak256("tnt_one");
    bytes32 internal constant OTHER_TENANT = keccak256("tnt_two");
    bytes32 internal constant ROOT = keccak256("root one");
    bytes32 internal constant NEXT_ROOT = keccak256("root two");

    BrainAuditAnchor internal anchors;

    function setUp() public {
        vm.warp(1_700_000_000);
        vm.roll(1234);
        anchors = new BrainAuditAnchor(PUBLISHER);
    }

    function test_constructor() public {
        vm.assertEq(anchors.publisher(), PUBLISHER, "publisher");
        vm.assertEq(anchors.pendingPublisher(), address(0), "pending");
        vm.assertEq(anchors.MAX_BATCH(), 50, "largest batch");
        vm.expectRevert(BrainAuditAnchor.ZeroAddress.selector);
        new BrainAuditAnchor(address(0));
    }

    function test_anchorStoresAndTells() public {
        vm.expectEmit(true, true, true, true, address(anchors));
        emit BrainAuditAnchor.AnchorPublished(TENANT, ROOT, 3, 100, 200);
        vm.prank(PUBLISHER);
        anchors.anchor(TENANT, ROOT, 3, 100, 200, 7, 9);

        BrainAuditAnchor.AnchorRecord memory want =
            BrainAuditAnchor.AnchorRecord(ROOT, 3, 100, 200, 7, 9, 1_700_000_000, 1234);
        _same(anchors.anchorOf(TENANT, ROOT), want);
        _same(anchors.latestAnchorFull(TENANT), want);
        vm.assertEq(anchors.latestAnchor(TENANT), ROOT, "latest");
        vm.assertTrue(anchors.isPublished(TENANT, ROOT), "published");
        vm.assertFalse(anchors.isPublished(OTHER_TENANT, ROOT), "published for another tenant");
        vm.assertFalse(anchors.isPublished(TENANT, NEXT_ROOT), "another root published");
    }

    function test_unknownTenantHasNothing() public view {
        BrainAuditAnchor.AnchorRecord memory empty;
        vm.assertEq(anchors.latestAnchor(TENANT), 0, "latest");
        _same(anchors.latestAnchorFull(TENANT), empty);
        _same(anchors.anchorOf(TENANT, ROOT), empty);
        vm.assertFalse(anchors.isPublished(TENANT, 0), "zero root published");
    }

    function test_nextAnchorIsTheLatestAndTheFirstStays() public {
        _anchor(TENANT, ROOT, 3, 0, 2);
        _anchor(TENANT, NEXT_ROOT, 2, 3, 4);
        vm.assertEq(anchors.latestAnchor(TENANT), NEXT_ROOT, "latest");
        vm.assertEq(anchors.latestAnchorFull(TENANT).firstSeq, 3, "latest record");
        vm.assertEq(anchors.anchorOf(TENANT, ROOT).lastSeq, 2, "first record");
        vm.assertTrue(anchors.isPublished(TENANT, ROOT), "first still published");
    }

    function test_rootIsOncePerTenant() public {
        _anchor(TENANT, ROOT, 3, 0, 2);
        vm.prank(PUBLISHER);
        vm.expectRevert(abi.encodeWithSelector(BrainAuditAnchor.AlreadyPublished.selector, TENANT, ROOT));
        anchors.anchor(TENANT, ROOT, 1, 500, 600, 50, 50);
        _anchor(OTHER_TENANT, ROOT, 3, 0, 2);
        vm.assertTrue(anchors.isPublished(OTHER_TENANT, ROOT), "another tenant may have the same root");
    }

    function test_onlyThePublisherPublishes() public {
        bytes memory refusal = abi.encodeWithSelector(BrainAuditAnchor.NotPublisher.selector, STRANGER);
        vm.prank(STRANGER);
        vm.expectRevert(refusal);
        anchors.anchor(TENANT, ROOT, 1, 0, 0, 0, 0);
        vm.prank(STRANGER);
        vm.expectRevert(refusal);
        anchors.anchorBatch(_batch(1));
        vm.prank(STRANGER);
        vm.expectRevert(refusal);
        anchors.transferPublisher(STRANGER);
    }

    function test_badAnchorsRefused() public {
        bytes memory sequence = abi.encodeWithSelector(BrainAuditAnchor.BadSequence.selector, TENANT, ROOT);
        bytes memory zeroTenant = abi.encodeWithSelector(BrainAuditAnchor.ZeroTenantId.selector);
        _refused(BrainAuditAnchor.Anchor(0, ROOT, 1, 0, 0, 0, 0), zeroTenant);
        bytes memory zeroRoot = abi.encodeWithSelector(BrainAuditAnchor.ZeroRoot.selector);
        _refused(BrainAuditAnchor.Anchor(TENANT, 0, 1, 0, 0, 0, 0), zeroRoot);
        _refused(BrainAuditAnchor.Anchor(TENANT, ROOT, 0, 0, 0, 0, 0), sequence);
        _refused(BrainAuditAnchor.Anchor(TENANT, ROOT, 0, 0, 0, 1, 0), sequence);
        _refused(BrainAuditAnchor.Anchor(TENANT, ROOT, 2, 0, 0, 5, 4), sequence);
        _refused(BrainAuditAnchor.Anchor(TENANT, ROOT, 2, 0, 0, 5, 7), sequence);
        _refused(BrainAuditAnchor.Anchor(TENANT, ROOT, 4, 0, 0, 5, 7), sequence);
        uint64 top = type(uint64).max;
        _refused(BrainAuditAnchor.Anchor(TENANT, ROOT, 0, 0, 0, 0, top), sequence); // the count would be 2^64
        bytes memory period = abi.encodeWithSelector(BrainAuditAnchor.BadPeriod.selector, TENANT, ROOT);
        _refused(BrainAuditAnchor.Anchor(TENANT, ROOT, 1, 2, 1, 0, 0), period);
    }

    /// @dev The ends of every range: one event, an instant, the largest numbers.
    function test_extremesAccepted() public {
        uint64 top = type(uint64).max;
        vm.prank(PUBLISHER);
        anchors.anchor(TENANT, ROOT, top, top, top, 1, top);
        vm.prank(PUBLISHER);
        anchors.anchor(TENANT, NEXT_ROOT, 1, 0, top, top, top);
        vm.assertEq(anchors.anchorOf(TENANT, ROOT).eventCount, top, "count");
    }

    function test_batchOfFifty() public {
        BrainAuditAnchor.Anchor[] memory batch = _batch(50);
        vm.recordLogs();
        vm.prank(PUBLISHER);
        anchors.anchorBatch(batch);
        vm.assertEq(vm.getRecordedLogs().length, 50, "events");
        for (uint256 i = 0; i < 50; ++i) {
            BrainAuditAnchor.AnchorRecord memory r = anchors.anchorOf(batch[i].tenantId, batch[i].root);
            vm.assertEq(r.lastSeq, batch[i].lastSeq, "last sequence number");
            vm.assertEq(anchors.latestAnchor(batch[i].tenantId), batch[i].root, "latest");
        }
    }

    function test_batchSizes() public {
        vm.prank(PUBLISHER);
        vm.expectRevert(BrainAuditAnchor.EmptyBatch.selector);
        anchors.anchorBatch(_batch(0));
        vm.prank(PUBLISHER);
        vm.expectRevert(abi.encodeWithSelector(BrainAuditAnchor.BatchTooLong.selector, 51));
        anchors.anchorBatch(_batch(51));
    }

    /// @dev A batch sent again publishes what is missing and touches nothing else.
    function test_batchSkipsWhatIsPublished() public {
        BrainAuditAnchor.Anchor[] memory batch = _batch(5);
        _anchor(batch[3].tenantId, batch[3].root, 9, 11, 19);
        vm.prank(PUBLISHER);
        anchors.anchorBatch(batch);
        vm.assertEq(anchors.anchorOf(batch[3].tenantId, batch[3].root).eventCount, 9, "first record stays");

        vm.warp(block.timestamp + 60);
        vm.recordLogs();
        vm.prank(PUBLISHER);
        anchors.anchorBatch(batch);
        vm.assertEq(vm.getRecordedLogs().length, 0, "events of a repeated batch");
        vm.assertEq(anchors.anchorOf(batch[0].tenantId, batch[0].root).publishedAt, 1_700_000_000, "time stays");
    }

    /// @dev A retry of an old batch does not make an old root the latest again.
    function test_skippedAnchorIsNotTheLatest() public {
        BrainAuditAnchor.Anchor[] memory batch = _batch(1);
        vm.prank(PUBLISHER);
        anchors.anchorBatch(batch);
        _anchor(batch[0].tenantId, NEXT_ROOT, 1, 1, 1);
        vm.prank(PUBLISHER);
        anchors.anchorBatch(batch);
        vm.assertEq(anchors.latestAnchor(batch[0].tenantId), NEXT_ROOT, "latest");
    }

    /// @dev What a retry says of a published pair is not looked at, not even
    /// when it makes no sense: the record is there and stays.
    function test_skippedAnchorIsNotLookedAt() public {
        BrainAuditAnchor.Anchor[] memory batch = _batch(2);
        _anchor(batch[0].tenantId, batch[0].root, 2, 4, 5);
        batch[0].eventCount = 0;
        batch[0].periodEnd = 0;
        vm.prank(PUBLISHER);
        anchors.anchorBatch(batch);
        vm.assertEq(anchors.anchorOf(batch[0].tenantId, batch[0].root).eventCount, 2, "record stays");
        vm.assertTrue(anchors.isPublished(batch[1].tenantId, batch[1].root), "the other one");
    }

    function test_sameAnchorTwiceInABatch() public {
        BrainAuditAnchor.Anchor[] memory batch = _batch(2);
        batch[1] = batch[0];
        vm.recordLogs();
        vm.prank(PUBLISHER);
        anchors.anchorBatch(batch);
        vm.assertEq(vm.getRecordedLogs().length, 1, "events");
    }

    /// @dev One bad anchor, and none of the batch is published.
    function test_batchIsAllOrNothing() public {
        BrainAuditAnchor.Anchor[] memory batch = _batch(3);
        batch[2].root = 0;
        vm.prank(PUBLISHER);
        vm.expectRevert(BrainAuditAnchor.ZeroRoot.selector);
        anchors.anchorBatch(batch);
        vm.assertFalse(anchors.isPublished(batch[0].tenantId, batch[0].root), "published");
    }

    function test_publisherRotatesInTwoSteps() public {
        vm.expectEmit(true, true, true, true, address(anchors));
        emit BrainAuditAnchor.PublisherTransferStarted(PUBLISHER, SUCCESSOR);
        vm.prank(PUBLISHER);
        anchors.transferPublisher(SUCCESSOR);
        vm.assertEq(anchors.publisher(), PUBLISHER, "publisher after the naming");
        vm.assertEq(anchors.pendingPublisher(), SUCCESSOR, "named");
        _anchor(TENANT, ROOT, 1, 0, 0); // the old one still publishes
        vm.prank(SUCCESSOR);
        vm.expectRevert(abi.encodeWithSelector(BrainAuditAnchor.NotPublisher.selector, SUCCESSOR));
        anchors.anchor(TENANT, NEXT_ROOT, 1, 0, 0, 1, 1);

        vm.expectEmit(true, true, true, true, address(anchors));
        emit BrainAuditAnchor.PublisherTransferred(PUBLISHER, SUCCESSOR);
        vm.prank(SUCCESSOR);
        anchors.acceptPublisher();
        vm.assertEq(anchors.publisher(), SUCCESSOR, "publisher after it accepted");
        vm.assertEq(anchors.pendingPublisher(), address(0), "nobody named");
        vm.prank(PUBLISHER);
        vm.expectRevert(abi.encodeWithSelector(BrainAuditAnchor.NotPublisher.selector, PUBLISHER));
        anchors.anchor(TENANT, NEXT_ROOT, 1, 0, 0, 1, 1);
    }

    function test_onlyTheNamedAccepts() public {
        vm.prank(PUBLISHER);
        anchors.transferPublisher(SUCCESSOR);
        address[2] memory others = [STRANGER, PUBLISHER];
        for (uint256 i = 0; i < others.length; ++i) {
            vm.prank(others[i]);
            vm.expectRevert(abi.encodeWithSelector(BrainAuditAnchor.NotPendingPublisher.selector, others[i]));
            anchors.acceptPublisher();
        }
    }

    /// @dev Accepting is good once, and a naming taken back is good for nothing.
    function test_acceptingIsOnceAndRevocable() public {
        vm.prank(PUBLISHER);
        anchors.transferPublisher(SUCCESSOR);
        vm.prank(PUBLISHER);
        anchors.transferPublisher(address(0));
        vm.prank(SUCCESSOR);
        vm.expectRevert(abi.encodeWithSelector(BrainAuditAnchor.NotPendingPublisher.selector, SUCCESSOR));
        anchors.acceptPublisher();
    }

    /// @dev Anything consistent is stored as given.
    function testFuzz_anchorReadsBack(
        bytes32 tenantId,
        bytes32 root,
        uint64 first,
        uint64 more,
        uint64 start,
        uint64 length
    ) public {
        vm.assume(tenantId != 0 && root != 0 && more < type(uint64).max - first);
        vm.assume(length <= type(uint64).max - start);
        vm.prank(PUBLISHER);
        anchors.anchor(tenantId, root, more + 1, start, start + length, first, first + more);
        BrainAuditAnchor.AnchorRecord memory want = BrainAuditAnchor.AnchorRecord(
            root, more + 1, start, start + length, first, first + more, uint64(block.timestamp), uint64(block.number)
        );
        _same(anchors.latestAnchorFull(tenantId), want);
    }

    /// @dev A count that the sequence numbers do not hold never gets in.
    function testFuzz_countIsThatOfTheSequence(uint64 count, uint64 first, uint64 last) public {
        bool holds = last >= first && uint256(last) - first + 1 == count;
        vm.prank(PUBLISHER);
        (bool ok,) = address(anchors).call(
            abi.encodeCall(BrainAuditAnchor.anchor, (TENANT, ROOT, count, 0, 0, first, last))
        );
        vm.assertEq(ok, holds, "accepted");
    }

    function _anchor(bytes32 tenantId, bytes32 root, uint64 count, uint64 first, uint64 last) private {
        vm.prank(PUBLISHER);
        anchors.anchor(tenantId, root, count, 10, 20, first, last);
    }

    /// @dev Refused alone and in a batch, for the same reason.
    function _refused(BrainAuditAnchor.Anchor memory a, bytes memory reason) private {
        vm.prank(PUBLISHER);
        vm.expectRevert(reason);
        anchors.anchor(a.tenantId, a.root, a.eventCount, a.periodStart, a.periodEnd, a.firstSeq, a.lastSeq);
        BrainAuditAnchor.Anchor[] memory batch = new BrainAuditAnchor.Anchor[](1);
        batch[0] = a;
        vm.prank(PUBLISHER);
        vm.expectRevert(reason);
        anchors.anchorBatch(batch);
    }

    function _batch(uint256 size) private pure returns (BrainAuditAnchor.Anchor[] memory batch) {
        batch = new BrainAuditAnchor.Anchor[](size);
        for (uint256 i = 0; i < size; ++i) {
            bytes32 tenantId = keccak256(abi.encode("tenant", i));
            batch[i] = BrainAuditAnchor.Anchor(tenantId, keccak256(abi.encode("root", i)), 2, 10, 20, 4, 5);
        }
    }

    function _same(
        BrainAuditAnchor.AnchorRecord memory got,
        BrainAuditAnchor.AnchorRecord memory want
    ) private pure {
        vm.assertEq(abi.encode(got), abi.encode(want), "record");
    }
}
