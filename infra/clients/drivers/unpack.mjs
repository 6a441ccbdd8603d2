// Unpacks the browser that comes packed in an npm package, with the libraries it
// wants beside the C library, into a folder: unpack.mjs INSTALLED FOLDER.
import { createRequire } from "node:module";
import { writeFileSync } from "node:fs";
import { dirname } from "node:path";

const [installed, folder] = process.argv.slice(2);
process.env.TMPDIR = folder; // the package unpacks into the folder for passing things
const require = createRequire(installed + "/package.json");
const { inflate } = require("@sparticuz/chromium");
const packed = dirname(require.resolve("@sparticuz/chromium")) + "/../bin/";
for (const part of ["chromium.br", "al2023.tar.br", "fonts.tar.br"]) await inflate(packed + part);

// For a machine without a configuration of fonts of its own.
writeFileSync(folder + "/fonts.conf", `<?xml version="1.0"?>
<fontconfig><dir>/usr/share/fonts</dir><dir prefix="relative">fonts</dir><cachedir prefix="relative">cache</cachedir></fontconfig>
`);
