// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Base} from "./Base.sol";

/// @dev Signs the registry's typed data. Everything is spelled out here a second
/// time and nothing is asked of the contract, so a changed type, name, version or
/// order of fields in the contract makes its tests fail.
abstract contract RegistrySigning is Base {
    bytes32 internal constant DOMAIN_TYPE =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");

    function domainSeparator(uint256 chainId, address verifyingContract) internal pure returns (bytes32) {
        return keccak256(
            abi.encode(
                DOMAIN_TYPE,
                keccak256("BrainMCPAgentRegistry"),
                keccak256("1"),
                chainId,
                verifyingContract
            )
        );
    }

    function signStruct(uint256 key, bytes32 domain, bytes32 structHash) internal pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, keccak256(abi.encodePacked(hex"1901", domain, structHash)));
        return abi.encodePacked(r, s, v);
    }

    function hashSetTenantSigner(
        bytes32 tenantId,
        address signer,
        bool allowed,
        uint256 nonce
    ) internal pure returns (bytes32) {
        return keccak256(
            abi.encode(
                keccak256("SetTenantSigner(bytes32 tenantId,address signer,bool allowed,uint256 nonce)"),
                tenantId,
                signer,
                allowed,
                nonce
            )
        );
    }

    function hashRegisterAgent(
        bytes32 agentId,
        address agentAddress,
        bytes32 tenantId,
        bytes32 scopeHash,
        bytes32 behaviorHash,
        uint256 nonce
    ) internal pure returns (bytes32) {
        return keccak256(
            abi.encode(
                keccak256(
                    "RegisterAgent(bytes32 agentId,address agentAddress,bytes32 tenantId,"
                    "bytes32 scopeHash,bytes32 behaviorHash,uint256 nonce)"
                ),
                agentId,
                agentAddress,
                tenantId,
                scopeHash,
                behaviorHash,
                nonce
            )
        );
    }

    function hashUpdateBehaviorHash(
        bytes32 agentId,
        bytes32 behaviorHash,
        uint256 nonce
    ) internal pure returns (bytes32) {
        return keccak256(
            abi.encode(
                keccak256("UpdateBehaviorHash(bytes32 agentId,bytes32 behaviorHash,uint256 nonce)"),
                agentId,
                behaviorHash,
                nonce
            )
        );
    }

    function hashRevokeAgent(bytes32 agentId, uint256 nonce) internal pure returns (bytes32) {
        return keccak256(abi.encode(keccak256("RevokeAgent(bytes32 agentId,uint256 nonce)"), agentId, nonce));
    }
}
