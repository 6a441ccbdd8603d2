// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Vm} from "./Vm.sol";

/// @dev What every test and handler starts from.
abstract contract Base {
    /// @dev forge's cheatcode address.
    Vm internal constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    /// @dev Which functions of a handler an invariant run may call.
    struct FuzzSelector {
        address addr;
        bytes4[] selectors;
    }
}
