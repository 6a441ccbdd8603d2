// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// @dev The cheatcodes of forge that these tests use, and no others.
interface Vm {
    struct Log {
        bytes32[] topics;
        bytes data;
        address emitter;
    }

    function addr(uint256 key) external pure returns (address);
    function sign(uint256 key, bytes32 digest) external pure returns (uint8 v, bytes32 r, bytes32 s);
    function prank(address sender) external;
    function warp(uint256 timestamp) external;
    function roll(uint256 number) external;
    function chainId(uint256 id) external;
    function assume(bool condition) external pure;
    function expectRevert(bytes calldata reason) external;
    function expectRevert(bytes4 selector) external;
    function expectEmit(bool topic1, bool topic2, bool topic3, bool data, address emitter) external;
    function recordLogs() external;
    function getRecordedLogs() external returns (Log[] memory);

    function assertTrue(bool condition, string calldata what) external pure;
    function assertFalse(bool condition, string calldata what) external pure;
    function assertEq(uint256 left, uint256 right, string calldata what) external pure;
    function assertEq(address left, address right, string calldata what) external pure;
    function assertEq(bytes32 left, bytes32 right, string calldata what) external pure;
    function assertEq(bool left, bool right, string calldata what) external pure;
    function assertEq(bytes calldata left, bytes calldata right, string calldata what) external pure;
}
