// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @dev Builds the audit tree a second way, to check the contract's climbing by
/// another's building. {rootOf} divides as RFC 6962 does; {rootAndPath} goes up
/// level by level as the publisher does. Tests hold the two against each other.
library ReferenceTree {
    function leafNode(bytes32 leaf) internal pure returns (bytes32) {
        return keccak256(bytes.concat(hex"00", leaf));
    }

    function parent(bytes32 a, bytes32 b) internal pure returns (bytes32) {
        if (uint256(a) > uint256(b)) return keccak256(bytes.concat(hex"01", b, a));
        return keccak256(bytes.concat(hex"01", a, b));
    }

    /// @dev The root over leaves[from .. to), divided at the largest power of
    /// two smaller than their number.
    function rootOf(bytes32[] memory leaves, uint256 from, uint256 to) internal pure returns (bytes32) {
        if (to - from == 1) return leafNode(leaves[from]);
        uint256 half = 1;
        while (half * 2 < to - from) half *= 2;
        return parent(rootOf(leaves, from, from + half), rootOf(leaves, from + half, to));
    }

    /// @dev The root over all leaves and the path of the one at index.
    function rootAndPath(
        bytes32[] memory leaves,
        uint256 index
    ) internal pure returns (bytes32 root, bytes32[] memory path) {
        bytes32[] memory level = new bytes32[](leaves.length);
        for (uint256 i = 0; i < leaves.length; ++i) level[i] = leafNode(leaves[i]);
        bytes32[] memory siblings = new bytes32[](256);
        uint256 count = 0;
        while (level.length > 1) {
            uint256 sibling = index ^ 1;
            if (sibling < level.length) siblings[count++] = level[sibling];
            level = _up(level);
            index /= 2;
        }
        path = new bytes32[](count);
        for (uint256 i = 0; i < count; ++i) path[i] = siblings[i];
        return (level[0], path);
    }

    function _up(bytes32[] memory level) private pure returns (bytes32[] memory above) {
        above = new bytes32[]((level.length + 1) / 2);
        for (uint256 i = 0; i < above.length; ++i) {
            bool odd = 2 * i + 1 == level.length;
            above[i] = odd ? level[2 * i] : parent(level[2 * i], level[2 * i + 1]);
        }
    }
}
