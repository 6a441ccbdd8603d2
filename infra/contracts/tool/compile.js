#!/usr/bin/env node
// Compiles src/ with the pinned solc and compares the result with artifacts/.
//
//   compile.js            fail when a committed artefact is not this compile
//   compile.js --write    rewrite the artefacts
//   compile.js --forge D  fail when forge built other bytecode into directory D,
//                         so that what the tests ran is what is shipped
//
// The settings must stay those of foundry.toml; --forge finds out if not.
"use strict";

const fs = require("node:fs");
const path = require("node:path");

const root = path.join(__dirname, "..");
const modules = path.join(root, "../../.local/contracts/node_modules");
const solc = require(path.join(modules, "solc"));
const { keccak256 } = require(path.join(modules, "js-sha3"));

const contracts = ["BrainMCPAgentRegistry", "BrainAuditAnchor"];

const settings = {
  // cancun: the oldest that OpenZeppelin's sources compile for (MCOPY).
  evmVersion: "cancun",
  optimizer: { enabled: true, runs: 200 },
  // No metadata at the end of the code: it holds paths and comments, and would
  // make the bytecode differ where the program does not.
  metadata: { appendCBOR: false, bytecodeHash: "none" },
  outputSelection: {
    "*": {
      "*": [
        "abi",
        "evm.bytecode.object",
        "evm.bytecode.linkReferences",
        "evm.deployedBytecode.object",
        "evm.deployedBytecode.immutableReferences",
        "evm.methodIdentifiers",
      ],
    },
  },
};

function readImport(name) {
  const file = path.join(modules, name);
  return fs.existsSync(file) ? { contents: fs.readFileSync(file, "utf8") } : { error: `no ${name}` };
}

function compile() {
  const sources = {};
  for (const name of contracts) {
    sources[`src/${name}.sol`] = { content: fs.readFileSync(path.join(root, "src", `${name}.sol`), "utf8") };
  }
  const input = JSON.stringify({ language: "Solidity", sources, settings });
  const output = JSON.parse(solc.compile(input, { import: readImport }));
  const complaints = (output.errors || []).map((e) => e.formattedMessage);
  if (complaints.length > 0) throw new Error(complaints.join("\n")); // a warning fails too
  return contracts.map((name) => artefact(name, output.contracts[`src/${name}.sol`][name]));
}

// The runtime hash is over the code with its immutables as zero bytes, the only
// form known before a deployment; immutables says where to put zeros in the code
// of a deployed contract to compare it.
function artefact(name, compiled) {
  const { bytecode, deployedBytecode, methodIdentifiers } = compiled.evm;
  if (Object.keys(bytecode.linkReferences).length > 0) throw new Error(`${name}: not linked`);
  const immutables = Object.values(deployedBytecode.immutableReferences || {})
    .flat()
    .sort((a, b) => a.start - b.start);
  return {
    contractName: name,
    compiler: solc.version(),
    evmVersion: settings.evmVersion,
    optimizerRuns: settings.optimizer.runs,
    abi: compiled.abi,
    selectors: Object.fromEntries(Object.entries(methodIdentifiers).map(([k, v]) => [k, `0x${v}`])),
    bytecode: `0x${bytecode.object}`,
    runtimeHash: `0x${keccak256(Buffer.from(deployedBytecode.object, "hex"))}`,
    runtimeSize: deployedBytecode.object.length / 2,
    immutables,
  };
}

function compareCommitted(artefacts) {
  let same = true;
  for (const a of artefacts) {
    const file = path.join(root, "artifacts", `${a.contractName}.json`);
    const text = `${JSON.stringify(a, null, 2)}\n`;
    if (process.argv.includes("--write")) fs.writeFileSync(file, text);
    if (!fs.existsSync(file) || fs.readFileSync(file, "utf8") !== text) {
      console.error(`artifacts/${a.contractName}.json is not the compile of src/: run ./check --write`);
      same = false;
    } else {
      console.log(`artifacts/${a.contractName}.json ok, ${a.runtimeSize} bytes of runtime code`);
    }
  }
  return same;
}

function compareForge(artefacts, directory) {
  let same = true;
  for (const a of artefacts) {
    const file = path.join(directory, `${a.contractName}.sol`, `${a.contractName}.json`);
    if (JSON.parse(fs.readFileSync(file, "utf8")).bytecode.object !== a.bytecode) {
      console.error(`${a.contractName}: forge tested other bytecode than artifacts/ holds; compare the settings`);
      same = false;
    }
  }
  return same;
}

const forge = process.argv.indexOf("--forge");
const artefacts = compile();
const same = forge < 0 ? compareCommitted(artefacts) : compareForge(artefacts, process.argv[forge + 1]);
process.exit(same ? 0 : 1);
