// One short session of the TypeScript SDK's client: what most desktop clients do first.
//
// usage: session.mjs NODE_MODULES http URL
//        session.mjs NODE_MODULES stdio COMMAND [ARGUMENT…]
//
// Prints one line when everything was as expected; otherwise the error names what was not.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const ANSWER_MILLIS = 30_000;

const [modules, transport, target, ...args] = process.argv.slice(2);
const sdk = `${modules}/@modelcontextprotocol/sdk`;
const load = (file) => import(pathToFileURL(`${sdk}/dist/esm/${file}`).href);
const { Client } = await load("client/index.js");
const { StreamableHTTPClientTransport } = await load("client/streamableHttp.js");
const { StdioClientTransport } = await load("client/stdio.js");
const { version } = JSON.parse(readFileSync(`${sdk}/package.json`, "utf8"));

const client = new Client({ name: "dowse-session", version: "0" });
const connection =
  transport === "http"
    ? new StreamableHTTPClientTransport(new URL(target))
    : new StdioClientTransport({ command: target, args });
const options = { timeout: ANSWER_MILLIS };
await client.connect(connection, options);

const { tools } = await client.listTools({}, options);
const tool = tools.find(({ name }) => name === "normalize_ocr_text");
assert.ok(tool, `the tool is missing from ${tools.map(({ name }) => name)}`);
assert.ok(tool.outputSchema, "the tool declares no output schema");

const call = (name, args) => client.callTool({ name, arguments: args }, undefined, options);

// The client itself checks the structured answer against the output schema.
const good = await call("normalize_ocr_text", { text: "マネ-ジャ-" });
assert.ok(!good.isError, JSON.stringify(good));
assert.equal(good.structuredContent.normalized_text, "マネージャー");

// A wrong argument is an answer that an agent can read, not a broken session.
const bad = await call("normalize_ocr_text", { txet: "マネ-ジャ-" });
assert.equal(bad.isError, true, JSON.stringify(bad));
assert.match(bad.content[0].text, /txet/);
assert.equal(bad.structuredContent, undefined);

await assert.rejects(call("no_such_tool", {}), { code: -32602 });

const again = await call("normalize_ocr_text", { text: "2020-2021" });
assert.equal(again.structuredContent.normalized_text, "2020-2021");

await client.close();
console.log(`typescript sdk ${version}, ${transport}: ${tools.length} tools, session passed`);
