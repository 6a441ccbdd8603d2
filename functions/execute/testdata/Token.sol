// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

// A token for tests, which can be told to misbehave as tokens on the chain do.
contract Token {
    event Transfer(address indexed from, address indexed to, uint256 value);

    mapping(address => uint256) public balanceOf;
    bool public silent; // transfers return false and move nothing

    constructor() {
        balanceOf[msg.sender] = 1_000_000_000;
    }

    function setSilent(bool to) external {
        silent = to;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        if (silent) return false;
        require(balanceOf[msg.sender] >= value, "too little");
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }
}
