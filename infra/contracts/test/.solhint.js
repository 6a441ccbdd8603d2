// solhint's recommended rules for the tests; each exception says why.
module.exports = {
  extends: "solhint:recommended",
  rules: {
    "compiler-version": ["error", "0.8.37"],
    "func-visibility": ["warn", { ignoreConstructors: true }],
    "max-line-length": ["error", 120],
    "import-path-check": "off", // as for src/
    "immutable-vars-naming": "off", // as for src/: getters of handlers
    // Tests need no @notice for a user: their name and @dev say what they hold.
    "use-natspec": "off",
    // test_what, testFuzz_what, invariant_what: forge tells them apart by prefix.
    "func-name-mixedcase": "off",
    // `vm` and Vm are what everybody calls forge's cheatcodes.
    "const-name-snakecase": "off",
    "interface-starts-with-i": "off",
    // A call that must fail is made low-level so that the failure can be judged.
    "avoid-low-level-calls": "off",
    // Splits a signature into r, s and v.
    "no-inline-assembly": "off",
    // Nobody pays for the gas of a test.
    "gas-small-strings": "off",
    "gas-strict-inequalities": "off",
    "gas-increment-by-one": "off",
    "gas-length-in-loops": "off",
    "gas-struct-packing": "off",
    "gas-calldata-parameters": "off",
    "gas-indexed-events": "off",
  },
};
