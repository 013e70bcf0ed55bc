"""`graphfix view`: a model as a page in the browser."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from graphfix.cli import completion
from graphfix.cli.help_groups import GroupedCommand
from graphfix.cli.parameters import STANDARD, report_file
from graphfix.cli.shared import CONTEXT, FILE, model_argument, output_options
from graphfix.rendering.style import printable


@click.command(cls=GroupedCommand, context_settings=CONTEXT)
@model_argument
@click.option(
    "--target",
    metavar="NAME",
    shell_complete=completion.targets,
    help="Mark what blocks it there as well.",
)
@click.option(
    "--at",
    metavar="NODE",
    shell_complete=completion.nodes,
    help="Begin at this node: a name, a pattern, op:Mod or index:12; one in a subgraph is shown "
    "where the subgraph is.",
)
@click.option(
    "-o",
    "--output",
    type=FILE,
    callback=report_file(".html"),
    metavar="FILE.html",
    help="Where the page goes; default: into the user's cache.",
)
@click.option(
    "--netron",
    is_flag=True,
    help="Show it in Netron instead, where that is installed (pip install netron), until Ctrl-C.",
)
@click.option("--no-open", is_flag=True, help="Write the page and open nothing.")
@output_options
def view(
    *,
    as_json: bool,
    model: Path,
    target: str | None,
    at: str | None,
    output: Path | None,
    netron: bool,
    no_open: bool,
) -> int:
    """Write a page of MODEL and open it in the browser: its graph, inputs, weights.

    Nothing leaves the machine: the page is one file that asks for nothing.
    With --netron it is Netron's page, served to this machine; its address cannot
    name a node, so --at says what to search for there.

    Exit codes: 0 written; 2 wrong usage; 3 MODEL cannot be read or is not a model;
    5 a fault in graphfix; 130 Ctrl-C.
    """
    from graphfix.cli.console import emit, emit_json, html_written, proto_of, stdout_kept
    from graphfix.cli.parameters import shown, source
    from graphfix.edits.addressing import main_place
    from graphfix.worker.limits import single_threaded

    with single_threaded():
        from graphfix.inspection.inspection import inspect_model
        from graphfix.pipeline.files import CheckRequest, check_file
    given = source(model)
    with stdout_kept():
        proto = proto_of(given)
        place = None if at is None else main_place(proto, at, "--at")
    if netron:
        if target is not None or output is not None:
            raise click.UsageError("--netron shows the model alone, without --target and -o")
        nodes = [] if place is None else [proto.graph.node[place]]
        sought = "".join(node.name or next(filter(None, node.output), "") for node in nodes)
        return _in_netron(model, sought, as_json=as_json, no_open=no_open)
    with stdout_kept():
        if target is None:
            from graphfix.rendering.html.view_page import view_page

            page = view_page(inspect_model(given), proto, place)
        else:
            from graphfix.rendering.html.check_page import check_page

            found = check_file(CheckRequest(given, target=target))
            page = check_page(shown(model), found.target.name, proto, found.findings, found.notes)
    path = output or _cached(model)
    html_written(path, page)
    address = path.absolute().as_uri() + ("" if place is None else f"#n{place}")
    opened = not no_open and _opened(address)
    if as_json:
        emit_json({"schema": 1, "page": str(path), "address": address, "opened": opened})
    else:
        emit(f"{path}{'' if opened else ': open it in a browser'}")
    return 0


def _in_netron(model: Path, sought: str, *, as_json: bool, no_open: bool) -> int:
    """Serve a model by Netron to this machine until it is interrupted."""
    from graphfix.cli.console import emit, emit_json
    from graphfix.cli.limits import page_of
    from graphfix.errors import UsageError

    if model == STANDARD:
        raise UsageError("Netron reads a file", where="--netron", hint="save the model first")
    try:
        shows: Any = import_module("netron")
    except ImportError as error:
        raise UsageError(
            "Netron is not installed", where="--netron", hint="pip install netron"
        ) from error
    page = page_of(click.get_current_context())
    if page is not None:
        page.limit(float("inf"), 0.0)
    host, port = shows.start(str(model), ("localhost", None), browse=False)
    address = f"http://{host}:{port}/"
    opened = not no_open and _opened(address)
    if as_json:
        emit_json({"schema": 1, "page": "", "address": address, "opened": opened, "node": sought})
    else:
        find = f"; find the node with Ctrl-F: {printable(sought)}" if sought else ""
        emit(f"{address} (Ctrl-C ends it){find}")
    sys.stdout.flush()
    shows.wait()
    return 0


def _opened(address: str) -> bool:
    import webbrowser

    return webbrowser.open(address)


def _cached(model: Path) -> Path:
    """Return where the page of a model goes: one file for each name of a model."""
    from graphfix.ir.storage.user_folders import user_cache

    folder = user_cache() / "view"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        from graphfix.errors import UsageError

        raise UsageError(
            f"cannot be made: {error.strerror}", where=str(folder), hint="give -o FILE.html"
        ) from error
    stem = "stdin" if str(model) == "-" else model.name.removesuffix(".onnx")
    return folder / f"{stem}.html"
