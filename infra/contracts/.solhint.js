// Every rule of solhint holds for src/, a warning fails; each exception says why.
// (code-complexity, max-line-length and the like stay at solhint's own limits.)
module.exports = {
  extends: "solhint:all",
  rules: {
    // The pragma names one version exactly, the one package.json pins.
    "compiler-version": ["error", "0.8.37"],
    // Constructors have had no visibility since Solidity 0.7.
    "func-visibility": ["warn", { ignoreConstructors: true }],
    // The import path is a remapping that solc and forge resolve; the rule looks
    // for node_modules beside the sources, where none may be.
    "import-path-check": "off",
    // Rules for forge's tests; those have their own file, test/.solhint.js.
    "foundry-test-functions": "off",
    "foundry-test-function-naming": "off",
    // The two contracts are called by their ABI from Go; an interface file would
    // be a second copy to keep equal.
    "comprehensive-interface": "off",
    // `admin()` is the getter's name in the ABI.
    "immutable-vars-naming": "off",
    // The indexed arguments are part of the ABI that readers rely on.
    "gas-indexed-events": "off",
    // The long strings are EIP-712 types, hashed at compile time.
    "gas-small-strings": "off",
    // The block's time is recorded and no decision is made by it.
    "not-rely-on-time": "off",
    // A name for a returned value that is never assigned says less than @return.
    "gas-named-return-values": "off",
  },
};
