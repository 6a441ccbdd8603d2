// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {BrainAuditAnchor} from "../src/BrainAuditAnchor.sol";
import {Base} from "./base/Base.sol";
import {ReferenceTree} from "./base/ReferenceTree.sol";

/// @dev verifyInclusion against a tree built elsewhere, and against changed
/// leaves, paths and roots.
contract AnchorTreeTest is Base {
    bytes32 internal constant TENANT = keccak256("tnt_one");
    uint256 internal constant LARGEST = 33;

    BrainAuditAnchor internal anchors;

    function setUp() public {
        anchors = new BrainAuditAnchor(address(this));
    }

    /// @dev Roots worked out in Go over SHA-256 of the bytes 0, 1, 2, 3, 4.
    function test_goldenRoots() public pure {
        bytes32[] memory leaves = new bytes32[](5);
        for (uint256 i = 0; i < 5; ++i) leaves[i] = sha256(abi.encodePacked(uint8(i)));
        bytes32 five = 0xfefa80c999d36cb2d2bba0989d6fa432af11196729208703d26441f5229beecf;
        vm.assertEq(ReferenceTree.rootOf(leaves, 0, 5), five, "five leaves");
        bytes32 one = 0x80b8197192afa55cccf9ad04d36d67cc2237290acbbc1f4a009aba1a0ea1f9bc;
        vm.assertEq(ReferenceTree.rootOf(leaves, 0, 1), one, "one leaf");
    }

    /// @dev Each leaf of each size from 1 to 33 is found, and nothing near it is.
    function test_everyLeafOfEverySize() public {
        for (uint256 size = 1; size <= LARGEST; ++size) {
            bytes32[] memory leaves = _leaves(size, 0);
            bytes32 root = _publish(leaves);
            for (uint256 i = 0; i < size; ++i) {
                (bytes32 built, bytes32[] memory path) = ReferenceTree.rootAndPath(leaves, i);
                vm.assertEq(built, root, "the two builders disagree");
                _foundAndNothingNear(root, leaves[i], path);
            }
        }
    }

    /// @dev A path of one leaf does not carry another leaf of the same tree.
    function test_pathBelongsToItsLeaf() public {
        bytes32[] memory leaves = _leaves(LARGEST, 0);
        bytes32 root = _publish(leaves);
        for (uint256 i = 0; i < LARGEST; ++i) {
            (, bytes32[] memory path) = ReferenceTree.rootAndPath(leaves, i);
            bytes32 other = leaves[(i + 1) % LARGEST];
            vm.assertFalse(anchors.verifyInclusion(TENANT, root, other, path), "another leaf");
        }
    }

    /// @dev An inner node, or a leaf node, handed in as if it were a leaf.
    function test_innerNodeIsNoLeaf() public {
        bytes32[] memory leaves = _leaves(4, 0);
        bytes32 root = _publish(leaves);
        bytes32 left = ReferenceTree.rootOf(leaves, 0, 2);
        bytes32[] memory path = new bytes32[](1);
        path[0] = ReferenceTree.rootOf(leaves, 2, 4);
        vm.assertFalse(anchors.verifyInclusion(TENANT, root, left, path), "inner node");
        vm.assertFalse(anchors.verifyInclusion(TENANT, root, root, new bytes32[](0)), "the root itself");

        (, path) = ReferenceTree.rootAndPath(leaves, 0);
        bytes32 node = ReferenceTree.leafNode(leaves[0]);
        vm.assertFalse(anchors.verifyInclusion(TENANT, root, node, path), "leaf node");
    }

    function test_falseUntilPublishedForTheTenant() public {
        bytes32[] memory leaves = _leaves(5, 0);
        (bytes32 root, bytes32[] memory path) = ReferenceTree.rootAndPath(leaves, 2);
        vm.assertFalse(anchors.verifyInclusion(TENANT, root, leaves[2], path), "before");
        _publish(leaves);
        vm.assertTrue(anchors.verifyInclusion(TENANT, root, leaves[2], path), "after");
        vm.assertFalse(anchors.verifyInclusion(keccak256("tnt_two"), root, leaves[2], path), "another tenant");
    }

    /// @dev The root of zero is what an unknown tenant has as its latest.
    function test_zeroRootIncludesNothing() public view {
        vm.assertFalse(anchors.verifyInclusion(TENANT, 0, 0, new bytes32[](0)), "zero root");
    }

    /// @dev Trees of up to 100 random leaves; equal leaves may occur.
    function testFuzz_randomTrees(bytes32 salt, uint256 size, uint256 index) public {
        size = 1 + size % 100;
        index %= size;
        bytes32[] memory leaves = _leaves(size, salt);
        bytes32 root = _publish(leaves);
        (bytes32 built, bytes32[] memory path) = ReferenceTree.rootAndPath(leaves, index);
        vm.assertEq(built, root, "the two builders disagree");
        _foundAndNothingNear(root, leaves[index], path);
    }

    /// @dev Any bit of the leaf, the path or the root flipped.
    function testFuzz_flippedBit(uint256 size, uint256 index, uint256 bit) public {
        size = 1 + size % 40;
        index %= size;
        bytes32[] memory leaves = _leaves(size, 0);
        bytes32 root = _publish(leaves);
        (, bytes32[] memory path) = ReferenceTree.rootAndPath(leaves, index);
        bytes32 mask = bytes32(1 << (bit % 256));
        uint256 word = (bit >> 8) % (path.length + 2);
        bytes32 leaf = leaves[index];
        if (word == 0) leaf ^= mask;
        else if (word == 1) root ^= mask;
        else path[word - 2] ^= mask;
        vm.assertFalse(anchors.verifyInclusion(TENANT, root, leaf, path), "flipped bit");
    }

    function _foundAndNothingNear(bytes32 root, bytes32 leaf, bytes32[] memory path) private view {
        vm.assertTrue(anchors.verifyInclusion(TENANT, root, leaf, path), "not found");
        vm.assertFalse(anchors.verifyInclusion(TENANT, root, leaf ^ bytes32(uint256(1)), path), "altered leaf");
        vm.assertFalse(anchors.verifyInclusion(TENANT, root ^ bytes32(uint256(1)), leaf, path), "altered root");

        bytes32[] memory longer = new bytes32[](path.length + 1);
        for (uint256 i = 0; i < path.length; ++i) {
            longer[i] = path[i];
            path[i] ^= bytes32(uint256(1) << 255);
            vm.assertFalse(anchors.verifyInclusion(TENANT, root, leaf, path), "altered path");
            path[i] = longer[i];
        }
        longer[path.length] = root;
        vm.assertFalse(anchors.verifyInclusion(TENANT, root, leaf, longer), "longer path");
        if (path.length == 0) return;
        bytes32[] memory shorter = new bytes32[](path.length - 1);
        for (uint256 i = 0; i < shorter.length; ++i) shorter[i] = path[i];
        vm.assertFalse(anchors.verifyInclusion(TENANT, root, leaf, shorter), "shorter path");
    }

    function _leaves(uint256 size, bytes32 salt) private pure returns (bytes32[] memory leaves) {
        leaves = new bytes32[](size);
        for (uint256 i = 0; i < size; ++i) leaves[i] = sha256(abi.encode(salt, i));
    }

    function _publish(bytes32[] memory leaves) private returns (bytes32 root) {
        root = ReferenceTree.rootOf(leaves, 0, leaves.length);
        anchors.anchor(TENANT, root, uint64(leaves.length), 0, 1, 0, uint64(leaves.length - 1));
    }
}
