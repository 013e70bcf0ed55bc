"""`graphfix mcp`: the commands as tools for programs that speak the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path

import click

from graphfix.cli.help_groups import GroupedCommand
from graphfix.cli.shared import CONTEXT
from graphfix.cli.work_options import work_options


@click.command(cls=GroupedCommand, context_settings=CONTEXT)
@click.argument(
    "folder", metavar="FOLDER", type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@work_options
@click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks.")
def mcp(*, folder: Path, jobs: int, max_size: int, max_memory: str, timeout: float) -> int:
    """Give the commands as tools to a program that speaks MCP, such as an assistant.

    It speaks on standard input and output. Files are read and written in FOLDER
    alone; each call is a process of its own with limits.

    Exit codes: 0 ended; 2 wrong usage; 5 a fault in graphfix; 130 Ctrl-C.
    """
    from graphfix import __version__
    from graphfix.rendering.schemas import schema_of
    from graphfix.service.desk import Limits
    from graphfix.service.mcp_server import serve_tools
    from graphfix.service.tools import Folder

    limits = Limits(max_size, timeout, max_memory)
    serve_tools(Folder(folder, max_size), limits, jobs, schema_of, __version__)
    return 0
