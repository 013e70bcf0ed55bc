"""`graphfix edit`: change a model by hand, and prove what each change promises."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphfix.cli.console import json_text, proto_of, report_option, write_reports
from graphfix.cli.edit_options import EDIT_GROUPS, IN_ORDER, edit_options
from graphfix.cli.help_groups import GroupedCommand
from graphfix.cli.limits import offer_template
from graphfix.cli.parameters import STANDARD, ModelPath, shown, source, write_out
from graphfix.cli.shared import (
    CONTEXT,
    FILE,
    Detail,
    detail_options,
    model_argument,
    output_options,
    share_option,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx import ModelProto

    from graphfix.edits.engine import Edited

_ORDER = "graphfix.edits"


class _InOrder(GroupedCommand):
    """A command that keeps the order in which different options were given."""

    groups = EDIT_GROUPS

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Note the edits in their order, then parse as ever."""
        parser = self.make_parser(ctx)
        values, _, order = parser.parse_args(args=list(args))
        given: dict[str, list[str]] = {}
        edits: list[tuple[str, str]] = []
        for param in order:
            name = IN_ORDER.get(param.name or "")
            if name is None:
                continue
            texts = values[param.name or ""]
            left = given.setdefault(name, [""] * texts if isinstance(texts, int) else list(texts))
            edits.append((name, left.pop(0)))
        ctx.meta[_ORDER] = edits
        return super().parse_args(ctx, args)


@click.command(cls=_InOrder, context_settings=CONTEXT)
@model_argument
@edit_options
@click.option(
    "-o",
    "--output",
    type=ModelPath(),
    metavar="OUT",
    help="Where to write; - is standard output, and the report goes to stderr then.",
)
@click.option(
    "--write-recipe",
    type=FILE,
    metavar="FILE.toml",
    help="Write the steps there, for the next export.",
)
@click.option("--force", is_flag=True, help="Overwrite OUT even if graphfix did not write it.")
@click.option(
    "--verify",
    type=click.Choice(["auto", "off"]),
    default="auto",
    show_default=True,
    help="Verify what each edit claims, or nothing.",
)
@click.option(
    "--inputs",
    type=FILE,
    metavar="FILE.npz",
    help="Compare on these inputs, arrays named after the inputs.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Seed of the generated inputs.",
)
@click.option(
    "--data",
    type=click.Choice(["keep", "copy", "link", "inline"]),
    default="keep",
    show_default=True,
    help="What to do with external data.",
)
@share_option
@click.option("--no-provenance", is_flag=True, help="Write no graphfix metadata into the model.")
@report_option(".html", ".json")
@detail_options
@output_options
def edit(
    *,
    as_json: bool,
    model: Path,
    no_provenance: bool,
    reports: tuple[Path, ...],
    detail: Detail,
    **asked: Any,
) -> int:
    """Change MODEL by hand: edits in the order given, all of them or none.

    Nodes and tensors are named by name, by a pattern ('*/attn/*'), by operator
    (op:Mod) or by place in the file (index:12). Each edit says what it did and verifies
    what it claims; MODEL itself is never changed.

    Exit codes: 0 written and verified; 1 written, but something could not be verified or
    done; 2 wrong usage, or the edit cannot be done; 3 MODEL cannot be read or is not a
    model; 4 a claim does not hold, nothing written; 5 a fault in graphfix; 130 Ctrl-C.
    """
    out = asked["output"] == STANDARD
    if out and as_json:
        raise click.UsageError("--json and -o - exclude each other: both want standard output")
    if out and sys.stdout.isatty():
        raise click.UsageError("standard output is a terminal, which shows no model")
    from graphfix.cli.console import emit, emit_json, say, stdout_kept, style_for
    from graphfix.cli.limits import page_of
    from graphfix.cli.progress import progress_hooks
    from graphfix.worker.limits import single_threaded

    with single_threaded():
        from graphfix.edits.files import EditRequest, edit_file
    for name in IN_ORDER:
        asked.pop(name, None)
    edits = click.get_current_context().meta[_ORDER]
    if asked["verify"] != "off":
        offer_template()
    request = EditRequest(source(model), edits, provenance=not no_provenance, **asked)
    before = proto_of(request.model) if reports else None
    raw: list[bytes] = []
    page = page_of(click.get_current_context())
    with progress_hooks(page=page) as hooks, stdout_kept():
        found = edit_file(request, hooks, raw.append)
    for result in raw:
        write_out(result)
    if before is not None:
        _write(reports, shown(model), request.output, before, found)
    if as_json:
        from graphfix.rendering.edit_views import edit_json

        emit_json(edit_json(shown(model), request.output, found))
        return found.exit_code
    from graphfix.rendering.edit_views import edit_line, edit_text, short_edit

    name, style = shown(model), style_for(sys.stderr if out else sys.stdout)
    if detail is Detail.VERDICT:
        text = edit_line(name, found, style=style)
    else:
        view = edit_text if detail is Detail.WHOLE else short_edit
        text = view(name, request.output, found, style=style)
    (say if out else emit)(text)
    return found.exit_code


def _write(
    reports: Sequence[Path], model: str, output: Path | None, before: ModelProto, found: Edited
) -> None:
    def html() -> str:
        from graphfix.rendering.html.edit_page import edit_page
        from graphfix.rendering.html.page import rendered

        return rendered(edit_page(model, "" if output is None else str(output), before, found))

    def json() -> str:
        from graphfix.rendering.edit_views import edit_json

        return json_text(edit_json(model, output, found))

    write_reports(reports, {".html": html, ".json": json})
