"""One short session of the Python `mcp` client: what an agent written in Python does first.

usage: session.py ERA http URL
       session.py ERA stdio COMMAND [ARGUMENT…]

ERA is `legacy` (the handshake of the revisions up to 2025-11-25) or `2026-07-28` (stateless).
Prints one line when everything was as expected; otherwise the traceback names what was not.
"""

import asyncio
import sys
from importlib.metadata import version

from mcp import Client, MCPError, StdioServerParameters

ANSWER_SECONDS = 30


async def main() -> None:
    era, transport, target, *arguments = sys.argv[1:]
    server = target if transport == "http" else StdioServerParameters(command=target, args=arguments)
    async with Client(server, mode=era, read_timeout_seconds=ANSWER_SECONDS) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert "normalize_ocr_text" in tools, f"the tool is missing from {sorted(tools)}"
        assert tools["normalize_ocr_text"].output_schema, "the tool declares no output schema"

        # The client itself checks the structured answer against the output schema.
        good = await client.call_tool("normalize_ocr_text", {"text": "マネ-ジャ-"})
        assert not good.is_error, good
        assert good.structured_content["normalized_text"] == "マネージャー", good

        # A wrong argument is an answer that an agent can read, not a broken session.
        bad = await client.call_tool("normalize_ocr_text", {"txet": "マネ-ジャ-"})
        assert bad.is_error and "txet" in bad.content[0].text, bad
        assert bad.structured_content is None, bad

        try:
            await client.call_tool("no_such_tool", {})
        except MCPError as error:
            assert error.code == -32602, error
        else:
            raise AssertionError("an unknown tool must be a protocol error")

        again = await client.call_tool("normalize_ocr_text", {"text": "2020-2021"})
        assert again.structured_content["normalized_text"] == "2020-2021", again
    print(f"python mcp {version('mcp')}, {transport}, {era}: {len(tools)} tools, session passed")


asyncio.run(main())
