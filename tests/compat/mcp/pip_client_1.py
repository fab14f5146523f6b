"""Visits with version 1 of the protocol's pip client: `pip_client_1.py URL KEY`, prints what it saw as JSON. Whenever
it leaves, a call that took too long is still under way."""
import asyncio
import json
import sys
from datetime import timedelta

from mcp import ClientSession, McpError
from mcp.client.streamable_http import streamablehttp_client

VISITS = 8  # whether a late answer disturbs it is a matter of luck


async def visit(url, key):
    seen = {"gave_up": False}
    async with streamablehttp_client(url, headers={"Authorization": "Bearer " + key}) as (read, write, _):
        async with ClientSession(read, write) as session:
            seen["version"] = (await session.initialize()).protocolVersion
            seen["tools"] = [tool.name for tool in (await session.list_tools()).tools]
            ran = await session.call_tool("run_code", {"language": "python", "code": "print(6 * 7)"})
            seen["ran"] = ran.structuredContent
            try:
                await session.call_tool("run_command", {"command": "sleep 600"},
                                        read_timeout_seconds=timedelta(seconds=0.3))
            except McpError:
                seen["gave_up"] = True
    return seen


async def visits(url, key):
    return [await visit(url, key) for _ in range(VISITS)]


print(json.dumps(asyncio.run(visits(*sys.argv[1:]))))
