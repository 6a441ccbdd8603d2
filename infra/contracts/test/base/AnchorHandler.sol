// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {BrainAuditAnchor} from "../../src/BrainAuditAnchor.sol";
import {Base} from "./Base.sol";

/// @dev Plays publishers old, new and false against the anchor contract, and
/// keeps a second book of what the rules say must be published. Few actors,
/// tenants and roots, so that calls meet; the root of index 0 is zero.
contract AnchorHandler is Base {
    uint256 public constant TENANTS = 3;
    uint256 public constant ROOTS = 12;

    BrainAuditAnchor public immutable anchors;

    /// @dev The book.
    address public bookPublisher;
    address public bookPending;
    mapping(bytes32 tenantId => bytes32 root) public bookLatest;
    mapping(bytes32 tenantId => mapping(bytes32 root => BrainAuditAnchor.AnchorRecord record)) private _book;

    /// @dev How often things happened; the reach test reads it.
    uint256 public published;
    uint256 public skipped;
    uint256 public refused;
    uint256 public rotations;

    constructor(BrainAuditAnchor subject) {
        anchors = subject;
        bookPublisher = subject.publisher();
    }

    // What a run may do.

    function anchor(uint256 actorSeed, uint256 seed) external {
        address sender = _sender(actorSeed);
        BrainAuditAnchor.Anchor memory a = _anchorOf(seed);
        bool want = sender == bookPublisher && _wellFormed(a) && _book[a.tenantId][a.root].eventCount == 0;
        bytes memory data = abi.encodeCall(
            BrainAuditAnchor.anchor,
            (a.tenantId, a.root, a.eventCount, a.periodStart, a.periodEnd, a.firstSeq, a.lastSeq)
        );
        if (_send(sender, data, want)) _enter(a);
    }

    function anchorBatch(uint256 actorSeed, uint256 seed, uint256 size) external {
        address sender = _sender(actorSeed);
        size %= 53;
        BrainAuditAnchor.Anchor[] memory batch = new BrainAuditAnchor.Anchor[](size);
        bool want = sender == bookPublisher && size >= 1 && size <= 50;
        for (uint256 i = 0; i < size; ++i) {
            batch[i] = _anchorOf(uint256(keccak256(abi.encode(seed, i))));
            if (seed % 4 != 0) _mend(batch[i]); // else most batches would hold a bad anchor
            want = want && (_wellFormed(batch[i]) || _isSkipped(batch, i));
        }
        vm.recordLogs();
        bool ok = _send(sender, abi.encodeCall(BrainAuditAnchor.anchorBatch, (batch)), want);
        if (!ok) return; // forge keeps the logs of a reverted call too
        uint256 before = published;
        for (uint256 i = 0; i < size; ++i) {
            if (_book[batch[i].tenantId][batch[i].root].eventCount == 0) _enter(batch[i]);
            else ++skipped;
        }
        vm.assertEq(vm.getRecordedLogs().length, published - before, "one event for each new root");
    }

    function transferPublisher(uint256 actorSeed, uint256 toSeed) external {
        address sender = _sender(actorSeed);
        address to = toSeed % 8 == 0 ? address(0) : actor(toSeed);
        bool want = sender == bookPublisher;
        if (_send(sender, abi.encodeCall(BrainAuditAnchor.transferPublisher, (to)), want)) bookPending = to;
    }

    function acceptPublisher(uint256 actorSeed) external {
        address sender = actorSeed % 2 == 0 && bookPending != address(0) ? bookPending : actor(actorSeed);
        if (!_send(sender, abi.encodeCall(BrainAuditAnchor.acceptPublisher, ()), sender == bookPending)) return;
        bookPublisher = sender;
        bookPending = address(0);
        ++rotations;
    }

    function passTime(uint16 secs) external {
        vm.warp(block.timestamp + secs);
        vm.roll(block.number + secs / 2 + 1);
    }

    // What the invariants read.

    function actor(uint256 seed) public pure returns (address) {
        return address(uint160(0xAC70 + (seed % 4)));
    }

    function tenant(uint256 seed) public pure returns (bytes32) {
        return keccak256(abi.encode("tenant", seed % TENANTS));
    }

    function root(uint256 seed) public pure returns (bytes32) {
        return seed % ROOTS == 0 ? bytes32(0) : keccak256(abi.encode("root", seed % ROOTS));
    }

    function book(bytes32 tenantId, bytes32 root_) external view returns (BrainAuditAnchor.AnchorRecord memory) {
        return _book[tenantId][root_];
    }

    // How it is done.

    /// @dev Mostly the publisher.
    function _sender(uint256 seed) private view returns (address) {
        return seed % 3 == 0 ? actor(seed >> 8) : bookPublisher;
    }

    function _send(address sender, bytes memory data, bool want) private returns (bool ok) {
        vm.prank(sender);
        (ok,) = address(anchors).call(data);
        vm.assertEq(ok, want, "the contract and the book disagree");
        if (!ok) ++refused;
    }

    /// @dev Published before, or further up in the same batch.
    function _isSkipped(BrainAuditAnchor.Anchor[] memory batch, uint256 place) private view returns (bool) {
        if (_book[batch[place].tenantId][batch[place].root].eventCount != 0) return true;
        for (uint256 i = 0; i < place; ++i) {
            if (batch[i].tenantId == batch[place].tenantId && batch[i].root == batch[place].root) return true;
        }
        return false;
    }

    /// @dev Mostly well formed, at times without a tenant, a root or sense.
    function _anchorOf(uint256 seed) private pure returns (BrainAuditAnchor.Anchor memory a) {
        a.tenantId = (seed >> 8) % 20 == 0 ? bytes32(0) : tenant(seed >> 8);
        a.root = root(seed >> 16);
        a.firstSeq = uint32(seed >> 24);
        a.eventCount = uint16(seed >> 56);
        a.lastSeq = a.firstSeq + a.eventCount - ((seed >> 72) % 10 == 0 || a.eventCount == 0 ? 0 : 1);
        a.periodStart = uint32(seed >> 80);
        a.periodEnd = a.periodStart + uint32(seed >> 112);
        if ((seed >> 144) % 10 == 0 && a.periodStart > 0) a.periodEnd = a.periodStart - 1;
    }

    function _mend(BrainAuditAnchor.Anchor memory a) private pure {
        if (a.tenantId == 0) a.tenantId = tenant(0);
        if (a.root == 0) a.root = root(1);
        if (a.eventCount == 0) a.eventCount = 1;
        a.lastSeq = a.firstSeq + a.eventCount - 1;
        if (a.periodEnd < a.periodStart) a.periodEnd = a.periodStart;
    }

    function _wellFormed(BrainAuditAnchor.Anchor memory a) private pure returns (bool) {
        return a.tenantId != 0 && a.root != 0 && a.eventCount != 0 && a.periodStart <= a.periodEnd
            && uint256(a.firstSeq) + a.eventCount == uint256(a.lastSeq) + 1;
    }

    function _enter(BrainAuditAnchor.Anchor memory a) private {
        vm.assertEq(_book[a.tenantId][a.root].eventCount, 0, "a root was published twice");
        _book[a.tenantId][a.root] = BrainAuditAnchor.AnchorRecord(
            a.root,
            a.eventCount,
            a.periodStart,
            a.periodEnd,
            a.firstSeq,
            a.lastSeq,
            uint64(block.timestamp),
            uint64(block.number)
        );
        bookLatest[a.tenantId] = a.root;
        ++published;
    }
}
