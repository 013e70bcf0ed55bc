"""`graphfix mcp`: the commands as tools of the Model Context Protocol, on standard streams.

Each call is a process of its own with limits, as by `graphfix batch`: a file that crashes, hangs or
wants all memory ends that process alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

import msgspec

from graphfix.batch.local_crew import GRACE, ended, own_command
from graphfix.errors import UsageError
from graphfix.service.desk import Limits
from graphfix.service.tools import Folder, Tool, command_of, input_schema, output_schema, tools

HINT = 'pip install "graphfix[mcp]"'
SAID = (
    "Repairs ONNX files for engines that reject them, and verifies the result. Start with inspect "
    "and check; run writes a repaired file. Read exit_code: 0 is done and verified. Ask the user "
    "before any argument that begins with allow_ or trust_."
)
_UNTIMED = 60.0  # seconds for what lists passes and targets

Schemas = Callable[[str], Mapping[str, Any]]


class Answer(msgspec.Struct, frozen=True):
    """What a call of a tool gives.

    Attributes:
        exit_code: That of the command; 2 where it was not begun.
        report: What the command printed, or what is wrong as ``error``.
    """

    exit_code: int
    report: dict[str, Any]


def answer(name: str, given: Mapping[str, Any], folder: Folder, limits: Limits) -> Answer:
    """Run the command that a call of a tool stands for, and return what it printed.

    Args:
        name: The tool.
        given: What was said to it.
        folder: Where files may lie.
        limits: What the command may take.
    """
    tool = tools().get(name)
    try:
        if tool is None:
            raise UsageError("there is no such tool", where=name, hint=", ".join(tools()))
        _held_to(tool, given)
        command = command_of(name, tool, given, folder)
    except UsageError as error:
        wrong = {"code": 2, "message": error.message, "where": error.where, "hint": error.hint}
        return Answer(2, {"error": wrong})
    words = [*command.words, "--json"]
    if tool.limited:
        words += ["--timeout", str(limits.seconds), "--max-memory", limits.memory]
    patience = (limits.seconds if tool.limited else _UNTIMED) + GRACE
    root = str(folder.root)
    code, said, complaint = ended(own_command(words), patience, text=command.text, folder=root)
    try:
        printed: dict[str, Any] = json.loads(said)
    except ValueError:
        failed = {"code": code, "message": complaint.strip() or "it ended without a word"}
        return Answer(code, {"error": failed})
    return Answer(code, printed)


def _held_to(tool: Tool, given: Mapping[str, Any]) -> None:
    """Hold what was said to a tool to its schema.

    Raises:
        UsageError: It does not fit.
    """
    from jsonschema import Draft202012Validator  # the protocol's own package needs it

    validator: Any = Draft202012Validator(input_schema(tool))
    for error in validator.iter_errors(dict(given)):
        raise UsageError(error.message, where="/".join(map(str, error.path)) or "the arguments")


def serve_tools(folder: Folder, limits: Limits, jobs: int, schemas: Schemas, version: str) -> None:
    """Answer calls until standard input ends.

    Args:
        folder: Where files may lie.
        limits: What one call may take.
        jobs: How many calls are worked on at a time.
        schemas: Gives the schema of what a command prints, by its name.
        version: That of graphfix.

    Raises:
        UsageError: The SDK of the protocol is not installed.
    """
    try:
        lowlevel: Any = import_module("mcp.server.lowlevel")
        stdio: Any = import_module("mcp.server.stdio")
        types: Any = import_module("mcp.types")
        anyio: Any = import_module("anyio")
    except ImportError as error:
        raise UsageError("the MCP SDK is not installed", where="graphfix mcp", hint=HINT) from error
    free = anyio.CapacityLimiter(jobs)

    async def listed(_context: object, _params: object) -> Any:
        return types.ListToolsResult(tools=[_listed_tool(types, name, schemas) for name in tools()])

    async def called(_context: object, params: Any) -> Any:
        work = partial(answer, params.name, params.arguments or {}, folder, limits)
        found: Answer = await anyio.to_thread.run_sync(work, limiter=free)
        structured = msgspec.to_builtins(found)
        text = types.TextContent(type="text", text=json.dumps(structured))
        failed = found.exit_code not in (0, 1, 4)
        return types.CallToolResult(content=[text], structured_content=structured, is_error=failed)

    async def life() -> None:
        server = lowlevel.Server(
            "graphfix",
            version=version,
            instructions=SAID,
            on_list_tools=listed,
            on_call_tool=called,
        )
        async with stdio.stdio_server() as (reads, writes):
            await server.run(reads, writes, server.create_initialization_options())

    anyio.run(life)


def _listed_tool(types: Any, name: str, schemas: Schemas) -> Any:
    tool = tools()[name]
    printed = schemas(tool.schema) if tool.schema else {"type": "object"}
    return types.Tool(
        name=name,
        description=tool.says,
        input_schema=input_schema(tool),
        output_schema=output_schema(printed),
        annotations=types.ToolAnnotations(read_only_hint=not tool.writes, open_world_hint=False),
    )
