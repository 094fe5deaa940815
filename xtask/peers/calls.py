"""What a call of a trivial tool costs: time over one open connection, and processor time of the server."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import Client, Dowse, cpu_seconds, emit, free_port, main, package_version, peak_mb, percentiles, until

SUBJECT = "calls"
N_CALLS = 2000

FASTMCP = """
import sys
from fastmcp import FastMCP
server = FastMCP("trivial")
@server.tool
def echo(text: str) -> dict:
    return {"text": text}
server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), stateless_http=True, json_response=True, show_banner=False, log_level="ERROR")
"""

TYPESCRIPT = """
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";
createServer(async (request, response) => {
  const server = new McpServer({ name: "trivial", version: "1" });
  server.registerTool("echo", { inputSchema: { text: z.string() }, outputSchema: { text: z.string() } },
    async ({ text }) => ({ content: [{ type: "text", text }], structuredContent: { text } }));
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
  await server.connect(transport);
  await transport.handleRequest(request, response);
}).listen(Number(process.argv[2]), "127.0.0.1");
"""


def measure(peer, version, pid, client, name, arguments, path="/mcp"):
    ask = lambda: client.tool(name, arguments, path)
    until(ask, 60)
    for _ in range(200):
        ask()
    cpu, seconds = cpu_seconds(pid), []
    for _ in range(N_CALLS):
        begun = time.perf_counter()
        ask()
        seconds.append(time.perf_counter() - begun)
    cpu = cpu_seconds(pid) - cpu
    emit(SUBJECT, peer, version, "over MCP", **percentiles(seconds), cpu_us_per_call=1e6 * cpu / N_CALLS, peak_mb=peak_mb(pid))


def dowse(_):
    with Dowse("") as server:
        measure("Dowse (identity, rate, redaction, audit)", Dowse.version(), server.process.pid, server.client,
                "normalize_ocr_text", {"text": "hello"})


def started(command, port, environment=None):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    return process, Client(port, {"MCP-Protocol-Version": "2025-06-18"})


def fastmcp(_):
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "server.py"
        file.write_text(FASTMCP)
        process, client = started([sys.executable, str(file), str(port)], port)
        try:
            until(lambda: Client(port).tool("echo", {"text": "hello"}), 60)
            measure("FastMCP (nothing but the tool)", package_version("fastmcp"), process.pid, client, "echo", {"text": "hello"})
        finally:
            process.terminate()
            process.wait(30)


def typescript(_):
    port = free_port()
    modules = Path(os.environ["PEER_NODE_MODULES"])
    file = modules.parent / "trivial-server.mjs"
    file.write_text(TYPESCRIPT)
    process, client = started([os.environ["PEER_NODE"], str(file), str(port)], port)
    try:
        until(lambda: Client(port).tool("echo", {"text": "hello"}), 60)
        version = __import__("json").loads((modules / "@modelcontextprotocol/sdk/package.json").read_text())["version"]
        measure("TypeScript SDK (nothing but the tool)", version, process.pid, client, "echo", {"text": "hello"})
    finally:
        process.terminate()
        process.wait(30)


main({"dowse": dowse, "fastmcp": fastmcp, "typescript": typescript})
