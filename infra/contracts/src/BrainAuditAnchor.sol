// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @title Published roots of the tenants' audit chains
/// @author RobotMoney
/// @notice One account publishes, per tenant and period, the Merkle root over
/// the tenant's audit entries. A published root never changes and never goes
/// away, so an entry proven against it was there when it was published.
/// @dev The tree: leaf node keccak256(0x00 ‖ leaf), where leaf is the entry's
/// SHA-256 chain hash; inner node keccak256(0x01 ‖ lower child ‖ higher child);
/// an odd node goes up unchanged. The prefixes keep a leaf from posing as an
/// inner node. Sorted children do not bind an entry's position: tenant, sequence
/// number and previous hash are inside the leaf's preimage and do.
contract BrainAuditAnchor {
    /// @notice One root to publish, as {anchorBatch} takes it.
    struct Anchor {
        bytes32 tenantId;
        bytes32 root;
        uint64 eventCount;
        uint64 periodStart;
        uint64 periodEnd;
        uint64 firstSeq;
        uint64 lastSeq;
    }

    /// @notice One published root. All zero when the root is not published.
    struct AnchorRecord {
        bytes32 root;
        uint64 eventCount;
        uint64 periodStart;
        uint64 periodEnd;
        uint64 firstSeq;
        uint64 lastSeq;
        uint64 publishedAt;
        uint64 blockNumber;
    }

    /// @notice The most anchors one batch takes. Fifty new ones cost about 4.9
    /// million gas, well under the 16.7 million that one transaction may use
    /// (EIP-7825). Publishers cut their batches by this number.
    uint256 public constant MAX_BATCH = 50;

    /// @notice The account that publishes.
    address public publisher;

    /// @notice The account that may take over as publisher, zero when none was named.
    address public pendingPublisher;

    /// @notice The root published last for a tenant, zero when there is none.
    mapping(bytes32 tenantId => bytes32 root) public latestAnchor;

    mapping(bytes32 tenantId => mapping(bytes32 root => AnchorRecord record)) private _anchors;

    /// @notice A root was published.
    /// @param tenantId The tenant whose entries it covers.
    /// @param root The Merkle root.
    /// @param eventCount How many entries it covers.
    /// @param periodStart Start of the period, Unix seconds.
    /// @param periodEnd End of the period, Unix seconds.
    event AnchorPublished(
        bytes32 indexed tenantId,
        bytes32 root,
        uint64 eventCount,
        uint64 periodStart,
        uint64 periodEnd
    );

    /// @notice The publisher named its successor, or took the naming back.
    /// @param publisher The publisher now.
    /// @param pendingPublisher The account named, zero when taken back.
    event PublisherTransferStarted(address indexed publisher, address indexed pendingPublisher);

    /// @notice The publisher changed.
    /// @param previousPublisher The publisher until now.
    /// @param publisher The publisher from now on.
    event PublisherTransferred(address indexed previousPublisher, address indexed publisher);

    /// @notice The zero address cannot publish.
    error ZeroAddress();

    /// @notice A tenant id of zero is no tenant.
    error ZeroTenantId();

    /// @notice A root of zero stands for "no root".
    error ZeroRoot();

    /// @notice The sender is not the publisher.
    /// @param sender The account that tried.
    error NotPublisher(address sender);

    /// @notice The sender was not named as the next publisher.
    /// @param sender The account that tried.
    error NotPendingPublisher(address sender);

    /// @notice The root is already published for the tenant.
    /// @param tenantId The tenant.
    /// @param root The root.
    error AlreadyPublished(bytes32 tenantId, bytes32 root);

    /// @notice The sequence numbers do not hold exactly eventCount entries, or
    /// there are none.
    /// @param tenantId The tenant.
    /// @param root The root.
    error BadSequence(bytes32 tenantId, bytes32 root);

    /// @notice The period ends before it starts.
    /// @param tenantId The tenant.
    /// @param root The root.
    error BadPeriod(bytes32 tenantId, bytes32 root);

    /// @notice A batch without anchors is a mistake of the caller.
    error EmptyBatch();

    /// @notice A batch holds at most MAX_BATCH anchors.
    /// @param length How many were given.
    error BatchTooLong(uint256 length);

    modifier onlyPublisher() {
        if (msg.sender != publisher) revert NotPublisher(msg.sender);
        _;
    }

    /// @notice Names the first publisher.
    /// @param initialPublisher The account that publishes first.
    constructor(address initialPublisher) {
        if (initialPublisher == address(0)) revert ZeroAddress();
        publisher = initialPublisher;
        emit PublisherTransferred(address(0), initialPublisher);
    }

    /// @notice Names the next publisher. It takes over only by its own call of
    /// {acceptPublisher}, so a mistyped address never does.
    /// @param newPublisher The successor; zero takes a naming back.
    function transferPublisher(address newPublisher) external onlyPublisher {
        pendingPublisher = newPublisher;
        emit PublisherTransferStarted(msg.sender, newPublisher);
    }

    /// @notice Takes over as publisher; the old one can publish no more.
    function acceptPublisher() external {
        if (msg.sender != pendingPublisher) revert NotPendingPublisher(msg.sender);
        address previousPublisher = publisher;
        publisher = msg.sender;
        pendingPublisher = address(0);
        emit PublisherTransferred(previousPublisher, msg.sender);
    }

    /// @notice Publishes one root; reverts when the tenant has it already.
    /// @param tenantId The tenant.
    /// @param root The Merkle root over its entries firstSeq to lastSeq.
    /// @param eventCount How many entries: lastSeq - firstSeq + 1.
    /// @param periodStart Start of the period, Unix seconds.
    /// @param periodEnd End of the period, Unix seconds, not before its start.
    /// @param firstSeq Sequence number of the first entry.
    /// @param lastSeq Sequence number of the last entry.
    function anchor(
        bytes32 tenantId,
        bytes32 root,
        uint64 eventCount,
        uint64 periodStart,
        uint64 periodEnd,
        uint64 firstSeq,
        uint64 lastSeq
    ) external onlyPublisher {
        if (isPublished(tenantId, root)) revert AlreadyPublished(tenantId, root);
        _publish(
            Anchor({
                tenantId: tenantId,
                root: root,
                eventCount: eventCount,
                periodStart: periodStart,
                periodEnd: periodEnd,
                firstSeq: firstSeq,
                lastSeq: lastSeq
            })
        );
    }

    /// @notice Publishes up to MAX_BATCH roots and skips those already
    /// published, so a batch whose fate is unknown can be sent again.
    /// @dev A pair that is published already is skipped whatever the rest of it
    /// says. Any other anchor that is not well formed reverts the whole batch.
    /// @param anchors The roots to publish.
    function anchorBatch(Anchor[] calldata anchors) external onlyPublisher {
        uint256 length = anchors.length;
        if (length == 0) revert EmptyBatch();
        if (length > MAX_BATCH) revert BatchTooLong(length);
        for (uint256 i = 0; i < length; ++i) {
            if (!isPublished(anchors[i].tenantId, anchors[i].root)) _publish(anchors[i]);
        }
    }

    /// @notice The record of the root published last for a tenant.
    /// @param tenantId The tenant.
    /// @return The record, all zero when the tenant has none.
    function latestAnchorFull(bytes32 tenantId) external view returns (AnchorRecord memory) {
        return _anchors[tenantId][latestAnchor[tenantId]];
    }

    /// @notice The record of one root of a tenant.
    /// @param tenantId The tenant.
    /// @param root The root.
    /// @return The record, all zero when the root is not published for the tenant.
    function anchorOf(bytes32 tenantId, bytes32 root) external view returns (AnchorRecord memory) {
        return _anchors[tenantId][root];
    }

    /// @notice Whether an entry is under a root published for a tenant.
    /// @param tenantId The tenant.
    /// @param root The root.
    /// @param leaf The entry's SHA-256 chain hash, not yet its leaf node.
    /// @param path The sibling nodes from the leaf up; empty for a tree of one.
    /// @return False too when the root is not published for the tenant.
    function verifyInclusion(
        bytes32 tenantId,
        bytes32 root,
        bytes32 leaf,
        bytes32[] calldata path
    ) external view returns (bool) {
        if (!isPublished(tenantId, root)) return false;
        bytes32 node = keccak256(abi.encodePacked(bytes1(0x00), leaf));
        uint256 height = path.length;
        for (uint256 i = 0; i < height; ++i) {
            node = _parent(node, path[i]);
        }
        return node == root;
    }

    /// @notice Whether a root is published for a tenant.
    /// @param tenantId The tenant.
    /// @param root The root.
    /// @return True when it is.
    function isPublished(bytes32 tenantId, bytes32 root) public view returns (bool) {
        return _anchors[tenantId][root].eventCount != 0;
    }

    /// @dev Stores a root that is not yet published. Sequence numbers that do
    /// not hold eventCount entries would make a record that no tree can match;
    /// a count of zero would leave the root unpublished in {isPublished}.
    function _publish(Anchor memory a) private {
        if (a.tenantId == bytes32(0)) revert ZeroTenantId();
        if (a.root == bytes32(0)) revert ZeroRoot();
        if (a.eventCount == 0 || a.lastSeq < a.firstSeq || a.lastSeq - a.firstSeq != a.eventCount - 1) {
            revert BadSequence(a.tenantId, a.root);
        }
        if (a.periodEnd < a.periodStart) revert BadPeriod(a.tenantId, a.root);

        _anchors[a.tenantId][a.root] = AnchorRecord({
            root: a.root,
            eventCount: a.eventCount,
            periodStart: a.periodStart,
            periodEnd: a.periodEnd,
            firstSeq: a.firstSeq,
            lastSeq: a.lastSeq,
            publishedAt: uint64(block.timestamp),
            blockNumber: uint64(block.number)
        });
        latestAnchor[a.tenantId] = a.root;
        emit AnchorPublished({
            tenantId: a.tenantId,
            root: a.root,
            eventCount: a.eventCount,
            periodStart: a.periodStart,
            periodEnd: a.periodEnd
        });
    }

    /// @dev The inner node over two children, whichever side they stand on.
    function _parent(bytes32 a, bytes32 b) private pure returns (bytes32) {
        (bytes32 low, bytes32 high) = a < b ? (a, b) : (b, a);
        return keccak256(abi.encodePacked(bytes1(0x01), low, high));
    }
}
