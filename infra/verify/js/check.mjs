// Judges trees and paths of ours with a library that others wrote. It reads a
// list of trees from the standard input: [{leaves, root, paths}], all 0x and
// hexadecimal, and prints how many paths it agrees with. Whatever it does not
// agree with ends it with 1.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import path from "node:path";

// The packages lie where they are installed, which is not beside this file.
const require = createRequire(pathToFileURL(path.join(process.argv[2], "package.json")));
const { MerkleTree } = require("merkletreejs");
const { keccak_256 } = await import(pathToFileURL(path.join(process.argv[2], "node_modules/@noble/hashes/sha3.js")));

const bytes = (hex) => Buffer.from(hex.slice(2), "hex");
const hash = (mark, data) => Buffer.from(keccak_256(Buffer.concat([Buffer.from([mark]), data])));
const inner = (data) => hash(1, Buffer.from(data));

let text = "";
for await (const chunk of process.stdin) text += chunk;
let agreed = 0;
const fail = (why) => {
  console.error(why);
  process.exit(1);
};
for (const { leaves, root, paths } of JSON.parse(text)) {
  const nodes = leaves.map((leaf) => hash(0, bytes(leaf)));
  const tree = new MerkleTree(nodes, inner, { sortPairs: true });
  if (tree.getHexRoot() !== root) fail(`over ${leaves.length} leaves the root is ${tree.getHexRoot()}, not ${root}`);
  paths.forEach((steps, i) => {
    const given = steps.map((step) => ({ data: bytes(step) }));
    if (!MerkleTree.verify(given.map((s) => s.data), nodes[i], bytes(root), inner, { sortPairs: true })) fail(`path ${i} of ${leaves.length} does not lead to the root`);
    const own = tree.getHexProof(nodes[i], i);
    if (own.join() !== steps.join()) fail(`path ${i} of ${leaves.length} is ${own}, not ${steps}`);
    agreed++;
  });
}
console.log(agreed);
