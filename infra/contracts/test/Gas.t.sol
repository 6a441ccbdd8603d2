// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {BrainAuditAnchor} from "../src/BrainAuditAnchor.sol";
import {BrainMCPAgentRegistry as Registry} from "../src/BrainMCPAgentRegistry.sol";
import {ReferenceTree} from "./base/ReferenceTree.sol";
import {RegistryFixture} from "./base/RegistryFixture.sol";

/// @dev One call of each kind, for the committed .gas-snapshot. The numbers hold
/// the test's own work too (signing, encoding): they show a change, they are no
/// price list. No fuzzing here, the numbers must repeat.
contract GasTest is RegistryFixture {
    bytes32 internal constant STANDING = keccak256("tnt_one/standing");

    BrainAuditAnchor internal anchors;
    BrainAuditAnchor.Anchor[] internal fifty;
    bytes32[] internal leaves;
    bytes32 internal root;

    function setUp() public override {
        super.setUp();
        registry.registerAgent(STANDING, AGENT_ADDRESS, TENANT, SCOPES, BEHAVIOR, _signStanding());
        anchors = new BrainAuditAnchor(address(this));
        for (uint256 i = 0; i < 50; ++i) {
            bytes32 tenantId = keccak256(abi.encode("tenant", i));
            fifty.push(BrainAuditAnchor.Anchor(tenantId, keccak256(abi.encode("root", i)), 9, 1, 2, 1, 9));
        }
        for (uint256 i = 0; i < 1000; ++i) leaves.push(sha256(abi.encode(i)));
        root = ReferenceTree.rootOf(leaves, 0, leaves.length);
        anchors.anchor(TENANT, root, 1000, 1, 2, 0, 999);
    }

    function test_deployRegistry() public {
        new Registry(ADMIN);
    }

    function test_deployAnchor() public {
        new BrainAuditAnchor(ADMIN);
    }

    function test_setTenantSigner() public {
        setSigner(FIRST_KEY, vm.addr(SECOND_KEY), true);
    }

    function test_registerAgent() public {
        register(FIRST_KEY);
    }

    function test_updateBehaviorHash() public {
        bytes32 hash = hashUpdateBehaviorHash(STANDING, keccak256("b"), registry.nonces(TENANT));
        registry.updateBehaviorHash(STANDING, keccak256("b"), sign(FIRST_KEY, hash));
    }

    function test_revokeAgent() public {
        bytes32 hash = hashRevokeAgent(STANDING, registry.nonces(TENANT));
        registry.revokeAgent(STANDING, sign(FIRST_KEY, hash));
    }

    function test_getAgent() public view {
        registry.getAgent(STANDING);
    }

    function test_anchor() public {
        anchors.anchor(TENANT, keccak256("root"), 9, 1, 2, 1, 9);
    }

    function test_anchorBatchOfFifty() public {
        anchors.anchorBatch(fifty);
    }

    function test_verifyInclusionInAThousand() public view {
        (, bytes32[] memory path) = ReferenceTree.rootAndPath(leaves, 123);
        vm.assertTrue(anchors.verifyInclusion(TENANT, root, leaves[123], path), "found");
    }

    function _signStanding() private view returns (bytes memory) {
        uint256 nonce = registry.nonces(TENANT);
        return sign(FIRST_KEY, hashRegisterAgent(STANDING, AGENT_ADDRESS, TENANT, SCOPES, BEHAVIOR, nonce));
    }
}
