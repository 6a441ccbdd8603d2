// Drives the TypeScript clients: the SDK of the 1.x line, the client of the 2.x
// line, and mcp-remote behind the former. Reads a job on standard input (see
// checks/checks.go) and prints one line of JSON for each check.
import { createRequire } from "node:module";
import { text } from "node:stream/consumers";
import { filled, keep } from "./kept.mjs";

const job = JSON.parse(await text(process.stdin));
// What is driven is installed elsewhere than this file.
const require = createRequire(job.installed + "/package.json");
const self = { name: "clients-run", version: "1" };

/** The ways to connect, by the driver's way in the table of clients. */
const ways = {
  async sdk(token) {
    const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
    const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const client = new Client(self);
    await client.connect(new StreamableHTTPClientTransport(new URL(job.url), withToken(token)));
    return client;
  },
  async client(token) {
    const { Client, StreamableHTTPClientTransport } = require("@modelcontextprotocol/client");
    const mode = job.mode === "pinned" ? { pin: "2026-07-28" } : job.mode;
    const client = new Client(self, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(job.url), withToken(token)));
    return client;
  },
  async bridge(token) {
    const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
    const client = new Client(self);
    await client.connect(new StdioClientTransport({
      command: process.execPath,
      args: [job.installed + "/node_modules/mcp-remote/dist/proxy.js", job.url, "--transport", "http-only", "--protocol", job.mode, "--header", `Authorization:Bearer ${token}`],
      // Its notes on logins go where nobody else's are.
      env: { ...process.env, MCP_REMOTE_CONFIG_DIR: job.scratch },
      stderr: "ignore",
    }));
    return client;
  },
};

const withToken = (token) => ({ requestInit: { headers: { Authorization: `Bearer ${token}` } } });

/** What a check does, by its verb. */
const verbs = {
  connect: (client) => ({ speaks: client.transport.protocolVersion, server: client.getServerVersion(), capabilities: client.getServerCapabilities() }),
  list: (client, { what }) => ({
    resources: () => client.listResources(),
    templates: () => client.listResourceTemplates(),
    tools: () => client.listTools(),
    prompts: () => client.listPrompts(),
  })[what](),
  read: (client, { uri }) => client.readResource({ uri }),
  complete: (client, { template, argument, value }) =>
    client.complete({ ref: { type: "ref/resource", uri: template }, argument: { name: argument, value } }),
  call: (client, { tool, arguments: args }) => client.callTool({ name: tool, arguments: args }),
  prompt: (client, { prompt, arguments: args }) => client.getPrompt({ name: prompt, arguments: args }),
};

/** An error as a caller sees it: what kind it is and all it says. */
function shown(error) {
  const { data, requiredScope } = error;
  return [error.name, error.message, JSON.stringify({ code: error.code, data, requiredScope })].join(" ");
}

const clients = new Map();
for (const check of job.checks) {
  try {
    if (!clients.has(check.as)) clients.set(check.as, await ways[job.way](job.tokens[check.as]));
    const result = await verbs[check.do](clients.get(check.as), filled(check));
    keep(check, JSON.stringify(result));
    console.log(JSON.stringify({ ok: !result.isError, text: JSON.stringify(result) }));
  } catch (error) {
    console.log(JSON.stringify({ ok: false, text: shown(error) }));
  }
}
for (const client of clients.values()) await client.close().catch(() => {});
process.exit(0); // a bridge that lingers must not hold the run
