"""The tools by MCP on stdin and stdout: the one place that knows the protocol's library.

The library runs on Trio by anyio; nothing of ours starts another loop.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import trio

from risala import __version__
from risala.cli.commands.agents.asking import AgentRefused, AgentService
from risala.engine.features.agents.records import TOOLS, AgentTool

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server


def serve(service: AgentService) -> None:
    """Answer an agent's program until it closes stdin."""
    trio.run(_serve, service)


async def _serve(service: AgentService) -> None:
    from mcp.server.stdio import stdio_server

    server = _server(service)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _server(service: AgentService) -> Server[Any]:
    import mcp_types as types
    from mcp.server.lowlevel import Server

    async def tools(_: Any, __: Any) -> types.ListToolsResult:  # noqa: ANN401 -- unread
        listed = [
            types.Tool(
                name=tool.name,
                description=tool.does,
                input_schema=schema(tool),
                annotations=types.ToolAnnotations(
                    read_only_hint=not tool.sends and tool.name != "verify_check",
                    destructive_hint=tool.sends,
                    open_world_hint=True,
                ),
            )
            for tool in TOOLS
        ]
        return types.ListToolsResult(tools=listed)

    async def call(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:  # noqa: ANN401 -- unread
        try:
            answer = await service.call(params.name, params.arguments or {})
        except AgentRefused as refused:
            return types.CallToolResult(content=[_text(types, str(refused))], is_error=True)
        text = service.hushed(json.dumps(answer, ensure_ascii=False))
        return types.CallToolResult(
            content=[_text(types, text)], structured_content=json.loads(text)
        )

    return Server(
        "risala",
        version=__version__,
        title="Risala",
        instructions=service.about,
        on_list_tools=tools,
        on_call_tool=call,
    )


def _text(types: Any, text: str) -> Any:  # noqa: ANN401 -- of a library that may not be there
    return types.TextContent(type="text", text=text)


def schema(tool: AgentTool) -> dict[str, Any]:
    """The JSON Schema of what a tool takes."""
    return {
        "type": "object",
        "properties": {
            name: {"type": "string", "description": meaning} for name, meaning in tool.takes.items()
        },
        "required": list(tool.required),
        "additionalProperties": False,
    }
