// Drives the command line of the MCP Inspector, one process for each check. Reads
// a job on standard input (see checks/checks.go) and prints one line of JSON for each
// check.
import { spawnSync } from "node:child_process";
import { text } from "node:stream/consumers";
import { filled, keep } from "./kept.mjs";

const job = JSON.parse(await text(process.stdin));
const inspector = job.installed + "/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";

const lists = { resources: "resources/list", templates: "resources/templates/list", tools: "tools/list", prompts: "prompts/list" };

/** The arguments of a check, by its verb. */
const verbs = {
  connect: () => ["--method", "initialize"], // it shows the same after a discover
  list: ({ what }) => ["--method", lists[what]],
  read: ({ uri }) => ["--method", "resources/read", "--uri", uri],
  call: ({ tool, arguments: args }) => ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", JSON.stringify(args ?? {})],
  prompt: ({ prompt, arguments: args }) => ["--method", "prompts/get", "--prompt-name", prompt, "--prompt-args", ...Object.entries(args ?? {}).map((pair) => pair.join("="))],
};

for (const check of job.checks) {
  const run = spawnSync(process.execPath, [
    inspector, "--cli", job.url, "--transport", "http", "--header", `Authorization: Bearer ${job.tokens[check.as]}`,
    "--protocol-era", job.mode, "--format", "json", "-q", "--stored-auth-only", ...verbs[check.do](filled(check)),
  ], { encoding: "utf8", env: { ...process.env, HOME: job.scratch } });
  if (run.status === 0) keep(check, run.stdout);
  console.log(JSON.stringify({ ok: run.status === 0, text: run.status === 0 ? run.stdout : `exit ${run.status} ${run.stderr}${run.stdout}` }));
}
