"""One visit with the protocol's pip client: `pip_client.py URL KEY`, prints what it saw as JSON."""
import asyncio
import json
import sys

from mcp import Client, MCPError
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client


async def visit(url, key):
    http = create_mcp_http_client(headers={"Authorization": "Bearer " + key})
    seen = {}
    # It asks for the newest revision first, and goes back to the handshake when that is refused.
    async with http, Client(streamable_http_client(url, http_client=http)) as client:
        seen["version"] = client.protocol_version
        seen["server"] = client.server_info.name
        seen["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        ran = await client.call_tool("run_code", {"language": "python", "code": "print(6 * 7)"})
        seen["ran"] = ran.structured_content
        wrong = await client.call_tool("read_file", {"path": "nothing"})
        seen["wrong"] = [wrong.is_error, json.loads(wrong.content[0].text)["code"]]
        signs = []

        async def sign(progress, total, message):
            signs.append(progress)

        await client.call_tool("run_command", {"command": "sleep 6"}, progress_callback=sign)
        seen["signs"] = signs
        try:
            await client.call_tool("run_command", {"command": "sleep 600"}, read_timeout_seconds=1.5)
        except MCPError:
            seen["gave_up"] = True
        programs = url.removesuffix("mcp") + f"v1/sandboxes/{ran.structured_content['sandbox_id']}/processes"
        while any(one["state"] == "running" for one in (await http.get(programs)).json()["items"]):
            await asyncio.sleep(0.2)
        try:
            await client.call_tool("rm", {})
        except MCPError as failure:
            seen["unknown"] = failure.error.code
    return seen


print(json.dumps(asyncio.run(visit(*sys.argv[1:]))))
