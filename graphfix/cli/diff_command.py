"""`graphfix diff`: what differs between two models as they are written."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from graphfix.cli.console import json_text, proto_of, report_option, write_reports
from graphfix.cli.help_groups import GroupedCommand
from graphfix.cli.limits import take_model
from graphfix.cli.parameters import ModelPath, check_one_stream, shown, source
from graphfix.cli.shared import CONTEXT, limit_options, output_options


@click.command(cls=GroupedCommand, context_settings=CONTEXT)
@limit_options
@click.argument("before", metavar="A", type=ModelPath(), callback=take_model)
@click.argument("after", metavar="B", type=ModelPath(), callback=take_model)
@report_option(".html", ".json")
@output_options
def diff(*, as_json: bool, before: Path, after: Path, reports: tuple[Path, ...]) -> int:
    """List the nodes, attributes, weights and metadata that differ from A to B.

    One of them may be - for standard input.

    Names of tensors and nodes, and the order of nodes and weights, do not count.
    Weights are read in pieces; what both models refer to is not read at all.

    Exit codes: 0 the same; 1 different; 2 wrong usage; 3 a file cannot be read
    or is not a model; 5 a fault in graphfix; 130 Ctrl-C.
    """
    from graphfix.cli.console import emit, emit_json, stdout_kept, style_for
    from graphfix.pipeline.two_models import diff as diff_files

    check_one_stream(before, after)
    one, two = source(before), source(after)
    with stdout_kept():
        found = diff_files(one, two)

    def html() -> str:
        from graphfix.rendering.html.page import rendered
        from graphfix.rendering.html.two_pages import diff_page

        protos = (proto_of(one), proto_of(two))
        return rendered(diff_page(shown(before), shown(after), protos, found))

    def json() -> str:
        from graphfix.rendering.diff_json import diff_json

        return json_text(diff_json(shown(before), shown(after), found))

    write_reports(reports, {".html": html, ".json": json})
    if as_json:
        from graphfix.rendering.diff_json import diff_json

        emit_json(diff_json(shown(before), shown(after), found))
        return found.exit_code
    from graphfix.rendering.diff_text import diff_text

    emit(diff_text(shown(before), shown(after), found, style=style_for(sys.stdout)))
    return found.exit_code
