// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {BrainMCPAgentRegistry as Registry} from "../src/BrainMCPAgentRegistry.sol";
import {RegistryFixture} from "./base/RegistryFixture.sol";

/// @dev A signature counts for exactly the data, nonce, chain and contract it
/// was made for, once, and in one form only.
contract RegistrySignatureTest is RegistryFixture {
    /// @dev Order of secp256k1.
    uint256 internal constant ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141;

    /// @dev Digests worked out by go-ethereum for the same values, so that a
    /// mistake made both in the contract and in RegistrySigning shows.
    function test_typedDataIsThatOfEip712() public pure {
        bytes32 agentId = bytes32(uint256(1));
        address account = 0x2222222222222222222222222222222222222222;
        bytes32 tenantId = bytes32(uint256(3));
        _digest(
            hashSetTenantSigner(tenantId, account, true, 7),
            0x1ba3df3bd1f8dd3e40eaede6fe3df91c81b74db7fe277a391c679d405d78d727
        );
        _digest(
            hashRegisterAgent(agentId, account, tenantId, bytes32(uint256(4)), bytes32(uint256(5)), 7),
            0xb31bc32c04f3e13a7a1ca5a92b42634e3799d8be15d41e9aa66f43eaf1a1488c
        );
        _digest(
            hashUpdateBehaviorHash(agentId, bytes32(uint256(2)), 7),
            0x381829a58e4d2f012532a2145074966aec59732bf86118e501ba2561dd723498
        );
        _digest(hashRevokeAgent(agentId, 7), 0x29360c3954de127d644f2d907e7137a83db41cae64d82ac8b4f74bc9c31ebb75);
    }

    function test_domainIsPublished() public view {
        (, string memory name, string memory version, uint256 chainId, address verifying,,) = registry.eip712Domain();
        vm.assertEq(bytes(name), "BrainMCPAgentRegistry", "name");
        vm.assertEq(bytes(version), "1", "version");
        vm.assertEq(chainId, block.chainid, "chain");
        vm.assertEq(verifying, address(registry), "contract");
    }

    function test_signatureOfAnotherChainDoesNotCount() public {
        bytes32 structHash = hashRegisterAgent(AGENT, AGENT_ADDRESS, TENANT, SCOPES, BEHAVIOR, 1);
        bytes32 foreign = domainSeparator(block.chainid + 1, address(registry));
        _refused(signStruct(FIRST_KEY, foreign, structHash), "another chain");
    }

    /// @dev After a chain split the other half has another id; a signature of
    /// before must not count there.
    function test_signatureDoesNotSurviveAChainSplit() public {
        bytes memory signature = signRegister(FIRST_KEY);
        vm.chainId(block.chainid + 1);
        _refused(signature, "after a split");
        register(FIRST_KEY);
        vm.assertTrue(registry.isAuthorized(AGENT, TENANT), "a signature for the new chain counts");
    }

    function test_signatureForAnotherContractDoesNotCount() public {
        bytes32 structHash = hashRegisterAgent(AGENT, AGENT_ADDRESS, TENANT, SCOPES, BEHAVIOR, 1);
        _refused(signStruct(FIRST_KEY, domainSeparator(block.chainid, address(this)), structHash), "another contract");
    }

    function test_signatureForAnotherNonceDoesNotCount() public {
        for (uint256 nonce = 0; nonce < 4; ++nonce) {
            if (nonce == registry.nonces(TENANT)) continue;
            bytes32 structHash = hashRegisterAgent(AGENT, AGENT_ADDRESS, TENANT, SCOPES, BEHAVIOR, nonce);
            _refused(sign(FIRST_KEY, structHash), "another nonce");
        }
    }

    /// @dev The twin of a signature, with n - s, leads to the same account.
    function test_malleableTwinDoesNotCount() public {
        (uint8 v, bytes32 r, bytes32 s) = _split(signRegister(FIRST_KEY));
        bytes memory twin = abi.encodePacked(r, bytes32(ORDER - uint256(s)), v == 27 ? uint8(28) : uint8(27));
        _refused(twin, "high s");
    }

    function test_onlySixtyFiveBytesCount() public {
        bytes memory whole = signRegister(FIRST_KEY);
        (uint8 v, bytes32 r, bytes32 s) = _split(whole);
        bytes32 compact = bytes32(uint256(s) | (uint256(v - 27) << 255));
        _refused("", "empty");
        _refused(abi.encodePacked(r, compact), "compact form");
        _refused(abi.encodePacked(r, s), "no v");
        _refused(abi.encodePacked(whole, uint8(0)), "one byte more");
        _refused(abi.encodePacked(r, s, uint8(v - 27)), "v of 0 or 1");
        _refused(new bytes(65), "zeroes");
    }

    /// @dev Every field is under the signature: change one and it fails.
    function test_everyFieldOfARegistrationIsSigned() public {
        bytes memory signature = signRegister(FIRST_KEY);
        bytes32 x = keccak256("x");
        _refusedCall(abi.encodeCall(Registry.registerAgent, (x, AGENT_ADDRESS, TENANT, SCOPES, BEHAVIOR, signature)));
        _refusedCall(abi.encodeCall(Registry.registerAgent, (AGENT, address(1), TENANT, SCOPES, BEHAVIOR, signature)));
        _refusedCall(abi.encodeCall(Registry.registerAgent, (AGENT, AGENT_ADDRESS, TENANT, x, BEHAVIOR, signature)));
        _refusedCall(abi.encodeCall(Registry.registerAgent, (AGENT, AGENT_ADDRESS, TENANT, SCOPES, x, signature)));
        nameFirstSigner(OTHER_TENANT, FIRST_KEY); // same signer, same nonce, another tenant
        _refusedCall(
            abi.encodeCall(Registry.registerAgent, (AGENT, AGENT_ADDRESS, OTHER_TENANT, SCOPES, BEHAVIOR, signature))
        );
    }

    function test_everyFieldOfTheOtherChangesIsSigned() public {
        setSigner(FIRST_KEY, vm.addr(SECOND_KEY), true);
        register(FIRST_KEY);
        address stranger = vm.addr(STRANGER_KEY);
        bytes32 x = keccak256("x");

        bytes memory signature = signSet(FIRST_KEY, vm.addr(SECOND_KEY), false);
        _refusedCall(abi.encodeCall(Registry.setTenantSigner, (TENANT, stranger, true, signature)));
        _refusedCall(abi.encodeCall(Registry.setTenantSigner, (TENANT, vm.addr(FIRST_KEY), false, signature)));
        signature = signSet(FIRST_KEY, stranger, false); // never true: the stranger is no signer
        _refusedCall(abi.encodeCall(Registry.setTenantSigner, (TENANT, stranger, true, signature)));

        signature = signUpdate(FIRST_KEY, x);
        _refusedCall(abi.encodeCall(Registry.updateBehaviorHash, (AGENT, keccak256("y"), signature)));
        _refusedCall(abi.encodeCall(Registry.revokeAgent, (AGENT, signature)));

        bytes32 twin = keccak256("tnt_one/agent_two");
        uint256 nonce = registry.nonces(TENANT);
        bytes memory second = sign(FIRST_KEY, hashRegisterAgent(twin, AGENT_ADDRESS, TENANT, SCOPES, BEHAVIOR, nonce));
        registry.registerAgent(twin, AGENT_ADDRESS, TENANT, SCOPES, BEHAVIOR, second);
        signature = signRevoke(FIRST_KEY);
        _refusedCall(abi.encodeCall(Registry.revokeAgent, (twin, signature)));
        signature = signUpdate(FIRST_KEY, x);
        _refusedCall(abi.encodeCall(Registry.updateBehaviorHash, (twin, x, signature)));
    }

    /// @dev A refused change leaves the nonce, so an honest signature still counts.
    function test_refusedChangeConsumesNoNonce() public {
        bytes memory good = signRegister(FIRST_KEY);
        _refused(signRegister(STRANGER_KEY), "stranger");
        vm.assertEq(registry.nonces(TENANT), 1, "nonce");
        registry.registerAgent(AGENT, AGENT_ADDRESS, TENANT, SCOPES, BEHAVIOR, good);
    }

    /// @dev Any bit of a good signature flipped makes it worthless.
    function testFuzz_flippedBitDoesNotCount(uint256 bit) public {
        bytes memory signature = signRegister(FIRST_KEY);
        bit %= signature.length * 8;
        signature[bit / 8] ^= bytes1(uint8(1 << (bit % 8)));
        _refused(signature, "flipped bit");
    }

    /// @dev Noise leads to some account or to none, never to a signer.
    function testFuzz_noiseDoesNotCount(bytes calldata noise) public {
        _refused(noise, "noise");
    }

    /// @dev Whatever is registered reads back whole, for any values.
    function testFuzz_registrationReadsBack(
        bytes32 agentId,
        address agentAddress,
        bytes32 scopeHash,
        bytes32 behaviorHash,
        uint64 time
    ) public {
        vm.assume(agentId != 0 && agentAddress != address(0) && scopeHash != 0 && time != 0);
        vm.warp(time);
        bytes32 hash = hashRegisterAgent(agentId, agentAddress, TENANT, scopeHash, behaviorHash, 1);
        registry.registerAgent(agentId, agentAddress, TENANT, scopeHash, behaviorHash, sign(FIRST_KEY, hash));
        (, bytes memory raw) = address(registry).staticcall(abi.encodeCall(Registry.getAgent, (agentId)));
        bytes memory want =
            abi.encode(agentId, agentAddress, TENANT, scopeHash, behaviorHash, uint256(time), uint256(0));
        vm.assertEq(raw, want, "record");
    }

    /// @dev Any key but the signer's fails.
    function testFuzz_otherKeysDoNotCount(uint256 key) public {
        key = 1 + key % (ORDER - 1);
        vm.assume(key != FIRST_KEY);
        _refused(signRegister(key), "another key");
    }

    function _digest(bytes32 structHash, bytes32 want) private pure {
        bytes32 separator = domainSeparator(8453, 0x1111111111111111111111111111111111111111);
        vm.assertEq(keccak256(abi.encodePacked(hex"1901", separator, structHash)), want, "digest");
    }

    function _refused(bytes memory signature, string memory what) private {
        (bool ok,) = address(registry).call(
            abi.encodeCall(Registry.registerAgent, (AGENT, AGENT_ADDRESS, TENANT, SCOPES, BEHAVIOR, signature))
        );
        vm.assertFalse(ok, what);
    }

    function _refusedCall(bytes memory data) private {
        (bool ok,) = address(registry).call(data);
        vm.assertFalse(ok, "signature counted for other data");
    }

    function _split(bytes memory signature) private pure returns (uint8 v, bytes32 r, bytes32 s) {
        assembly ("memory-safe") {
            r := mload(add(signature, 0x20))
            s := mload(add(signature, 0x40))
            v := byte(0, mload(add(signature, 0x60)))
        }
    }
}
