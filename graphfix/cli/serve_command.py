"""`graphfix serve`: repairs in the browser, for this machine."""

from __future__ import annotations

import errno
import socket
from importlib import import_module
from typing import Any

import click

from graphfix.cli import completion
from graphfix.cli.help_groups import GroupedCommand, RenamedOption
from graphfix.cli.shared import CONTEXT
from graphfix.cli.work_options import work_options

_LOCAL = ("127.0.0.1", "localhost", "::1")


@click.command(cls=GroupedCommand, context_settings=CONTEXT)
@click.option(
    "--host",
    default=_LOCAL[0],
    show_default=True,
    metavar="NAME",
    help="The address to listen on. Any but this machine's own lets others in: there is no login.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, metavar="N")
@click.option(
    "--target",
    "first",
    metavar="NAME",
    shell_complete=completion.targets,
    help="The target that is chosen at first.",
)
@work_options
@click.option(
    "--keep-for",
    "--keep",
    "keep",
    cls=RenamedOption,
    type=click.FloatRange(min=0),
    default=3600.0,
    show_default=True,
    metavar="SECONDS",
    help="For how long a model and its result are kept.",
)
@click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks.")
def serve(
    *,
    host: str,
    port: int,
    first: str | None,
    jobs: int,
    max_size: int,
    max_memory: str,
    timeout: float,
    keep: float,
) -> int:
    """Serve a page to hand models in, read their reports and take the results.

    Each model is worked on in a process of its own with limits, as by `graphfix
    batch`, and is removed with its result when it is told to be, after --keep-for,
    and when the service ends. Nothing leaves the machine.

    Exit codes: 0 ended; 2 wrong usage; 5 a fault in graphfix; 130 Ctrl-C.
    """
    from graphfix.cli.program import example_target
    from graphfix.engines.targets import load_target, target_names
    from graphfix.errors import UsageError
    from graphfix.service.app import HINT, application
    from graphfix.service.desk import Limits

    chosen = load_target(first or example_target()).name
    names = (chosen, *(name for name in target_names() if name != chosen))
    targets = [(name, load_target(name).title) for name in names]
    limits = Limits(max_size, timeout, max_memory, keep)
    hosts = _LOCAL if host in _LOCAL else (*_LOCAL, host) if host != "0.0.0.0" else ("*",)
    app = application(targets, limits, jobs, hosts)
    try:
        uvicorn: Any = import_module("uvicorn")
    except ImportError as error:
        raise UsageError("uvicorn is not installed", where="graphfix serve", hint=HINT) from error
    from graphfix.cli.console import say

    with _listening(host, port) as listener:
        say(f"graphfix: http://{host}:{listener.getsockname()[1]}/ (Ctrl-C ends it)")
        config = uvicorn.Config(app, log_level="warning", server_header=False)
        uvicorn.Server(config).run(sockets=[listener])
    return 0


def _listening(host: str, port: int) -> socket.socket:
    """Take a port before anybody hears of it; 0 is for any free one.

    Raises:
        UsageError: There is no such address, or the port is in use.
    """
    from graphfix.errors import UsageError

    try:
        kind, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror:
        hint = "127.0.0.1 is this machine alone, 0.0.0.0 lets others in"
        raise UsageError("there is no such address", where=f"--host {host}", hint=hint) from None
    listener = socket.socket(kind, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRNOTAVAIL:
            hint = "127.0.0.1 is this machine alone, 0.0.0.0 lets others in"
            said = "is no address of this machine"
            raise UsageError(said, where=f"--host {host}", hint=hint) from None
        hint = "give another one, or --port 0 for any that is free"
        said = (error.strerror or str(error)).lower()
        raise UsageError(said, where=f"--port {port}", hint=hint) from None
    return listener
