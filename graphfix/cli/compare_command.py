"""`graphfix compare`: two models on the same inputs."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from graphfix.cli.console import json_text, proto_of, report_option, write_reports
from graphfix.cli.help_groups import GroupedCommand
from graphfix.cli.limits import offer_template, take_model
from graphfix.cli.parameters import (
    INPUT_FORM,
    RANGE_FORM,
    ModelPath,
    check_one_stream,
    input_files,
    number_ranges,
    plot_file,
    shown,
    source,
)
from graphfix.cli.shared import (
    CONTEXT,
    FILE,
    limit_options,
    output_options,
    pass_file_option,
    sample_options,
)


@click.command(cls=GroupedCommand, context_settings=CONTEXT)
@limit_options
@click.argument("before", metavar="A", type=ModelPath(), callback=take_model)
@click.argument("after", metavar="B|EXPECTED", type=ModelPath(), callback=take_model)
@click.option("--layers", is_flag=True, help="Compare every tensor that both models have.")
@click.option(
    "--range",
    "ranges",
    multiple=True,
    callback=number_ranges,
    metavar=RANGE_FORM,
    help="Draw the values of an input from a range; repeat for more.",
)
@click.option(
    "--input",
    "files",
    multiple=True,
    callback=input_files,
    metavar=INPUT_FORM,
    help="Take an input from a picture, a .wav or an .npy file; repeat for more.",
)
@sample_options
@click.option(
    "--plot",
    type=FILE,
    callback=plot_file,
    metavar="FILE.png|svg",
    help="Draw the error along the depth; implies --layers.",
)
@pass_file_option
@report_option(".html", ".json")
@output_options
def compare(
    *,
    as_json: bool,
    before: Path,
    after: Path,
    layers: bool,
    inputs: Path | None,
    seed: int,
    shapes: dict[str, tuple[int, ...]],
    plot: Path | None,
    pass_files: tuple[Path, ...],
    reports: tuple[Path, ...],
    ranges: dict[str, tuple[float, float]],
    files: dict[str, Path],
) -> int:
    """Run A and B on the same inputs and compare their outputs; one may be - (stdin).

    B may be what A is to give, too: an .npz file with outputs (and inputs) by their
    names, or a folder of ONNX's test data (input_0.pb, output_0.pb, or folders with them).

    With --layers also the tensors inside: those at the same place of the graph,
    whatever their names, and those with the same name. Tolerances are a small
    multiple of A's own rounding noise.

    Exit codes: 0 equal; 1 different, or not shown to be equal; 2 wrong usage, or
    different inputs; 3 a file cannot be read or is not a model; 5 a fault in graphfix;
    130 Ctrl-C.
    """
    from graphfix.cli.console import emit, emit_json, stdout_kept, style_for
    from graphfix.worker.limits import single_threaded

    with single_threaded():
        from graphfix.pipeline.two_models import compare as compare_files
    offer_template()

    check_one_stream(before, after)
    one, two = source(before), source(after)
    with stdout_kept():
        found = compare_files(
            one,
            two,
            layers or plot is not None,
            inputs,
            seed,
            shapes=shapes,
            pass_files=pass_files,
            ranges=ranges,
            files=files,
        )
    if plot is not None:
        from graphfix.rendering.plotting import write_plot

        write_plot(plot, found)

    def html() -> str:
        from graphfix.rendering.html.page import rendered
        from graphfix.rendering.html.two_pages import compare_page

        return rendered(compare_page(shown(before), shown(after), proto_of(one), found))

    def json() -> str:
        from graphfix.rendering.compare_json import compare_json

        return json_text(compare_json(shown(before), shown(after), found))

    write_reports(reports, {".html": html, ".json": json})
    if as_json:
        from graphfix.rendering.compare_json import compare_json

        emit_json(compare_json(shown(before), shown(after), found))
        return found.exit_code
    from graphfix.rendering.compare_text import compare_text

    emit(compare_text(shown(before), shown(after), found, style=style_for(sys.stdout)))
    return found.exit_code
