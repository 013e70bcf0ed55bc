"""`graphfix run`: repair a model, verify it, write it, and say what became of it."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphfix.cli import completion
from graphfix.cli.console import json_text, report_option, write_reports
from graphfix.cli.limits import offer_template
from graphfix.cli.parameters import STANDARD, ModelPath, report_file, source, write_out
from graphfix.cli.settings_file import SettingsCommand, settings_option, settings_used
from graphfix.cli.shared import (
    CONTEXT,
    FILE,
    Detail,
    capability_option,
    detail_options,
    fallback_option,
    model_argument,
    output_options,
    pass_file_option,
    sample_options,
    selection_options,
    treat_option,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphfix.engines.interface import Input, NextStep
    from graphfix.engines.profile import Target
    from graphfix.pipeline.files import RunRequest
    from graphfix.pipeline.results import Result
    from graphfix.report import Report


@click.command(cls=SettingsCommand, context_settings=CONTEXT)
@model_argument
@selection_options
@click.option(
    "--except",
    "excepted",
    multiple=True,
    metavar="NODE",
    shell_complete=completion.nodes,
    help="Leave these nodes as they are: a name, '*/attn/*', op:Mod, index:12; repeat for more.",
)
@click.option("--except-if-there", "excepted_if_there", multiple=True, hidden=True)  # of a batch
@click.option(
    "--only",
    multiple=True,
    metavar="NODE",
    shell_complete=completion.nodes,
    help="Repair these nodes only, named in the same way.",
)
@click.option(
    "-o",
    "--output",
    type=ModelPath(),
    metavar="OUT",
    help="Where to write; default: next to MODEL, named after the target; - is standard output, "
    "and the report goes to stderr then.",
)
@click.option("--strict", is_flag=True, help="Write nothing while a problem is left.")
@click.option("--force", is_flag=True, help="Overwrite OUT even if graphfix did not write it.")
@click.option(
    "--verify",
    type=click.Choice(["auto", "sites", "full", "engine", "off"]),
    default="auto",
    show_default=True,
    help="What to compare: each repair (sites), the whole model (full), both (auto), also what the "
    "target's engine on this machine computes (engine; auto where it is here), or nothing (off).",
)
@click.option(
    "--questions",
    type=click.IntRange(min=0),
    default=200,
    show_default=True,
    metavar="N",
    help="How often the target's engine on this machine may be given a model to find the nodes "
    "that it says no to, for repair; 0: it is not asked for them.",
)
@click.option(
    "--trust-rules/--no-trust-rules",
    help="Take rules for enough where the engine, whose converter guesses, is not asked.",
)
@fallback_option
@capability_option
@sample_options
@treat_option
@pass_file_option
@report_option(".html", ".json", ".md")
@click.option(
    "--example",
    type=FILE,
    callback=report_file(".py"),
    metavar="FILE.py",
    help="Write a program there that feeds OUT to the target's engine and prints shapes.",
)
@click.option(
    "--time",
    is_flag=True,
    help="Say what the model costs before and after: nodes, weights, multiply-adds, and the time "
    "of a call in onnxruntime.",
)
@click.option("--dry-run", is_flag=True, help="Do everything but write.")
@click.option("--in-place", is_flag=True, help="Overwrite MODEL itself.")
@click.option(
    "--data",
    type=click.Choice(["keep", "copy", "link", "inline"]),
    default="keep",
    show_default=True,
    help="What to do with external data.",
)
@click.option(
    "--reproducers",
    type=FILE,
    metavar="DIR",
    help="Where to put reproducers of faulty repairs, for `graphfix replay`; default: "
    "OUT.reproducers.",
)
@click.option(
    "--certificates",
    type=FILE,
    metavar="DIR",
    help="Keep the results of comparisons there, and reuse those of runs on other models.",
)
@click.option("--anonymize", is_flag=True, help="Put no names and no weights into those folders.")
@click.option(
    "--strip",
    is_flag=True,
    help="Leave out doc strings, and the metadata of nodes and tensors, as exporters write them.",
)
@click.option("--no-provenance", is_flag=True, help="Write no graphfix metadata into the model.")
@detail_options
@settings_option
@output_options
def run(
    *,
    as_json: bool,
    reports: tuple[Path, ...],
    no_provenance: bool,
    skip: tuple[str, ...] | None,
    detail: Detail,
    example: Path | None,
    **asked: Any,
) -> int:
    """Repair MODEL for a target, verify that it computes the same, and write it.

    The input is never changed (but see --in-place). Without --target, --passes
    runs repairs by name and --opset converts. MODEL may be - for standard input.

    Exit codes: 0 written, and verified unless --verify off; 1 written, but problems
    are left or equality could not be shown; 2 wrong usage; 3 MODEL cannot be read or
    is not a model; 4 the result differs, nothing written; 5 a fault in graphfix,
    nothing written; 130 Ctrl-C, nothing written.
    """
    if asked["in_place"] and asked["output"] is not None:
        raise click.UsageError("--in-place and --output exclude each other")
    out = asked["output"] == STANDARD
    if out and as_json:
        raise click.UsageError("--json and -o - exclude each other: both want standard output")
    if out and sys.stdout.isatty() and not asked["dry_run"]:
        raise click.UsageError("standard output is a terminal, which shows no model")
    if asked["model"] == STANDARD and (asked["in_place"] or asked["output"] is None):
        raise click.UsageError(
            "standard input has no place of its own: give -o OUT.onnx, or -o - for standard output"
        )
    if example is not None and (out or asked["dry_run"]):
        raise click.UsageError("--example wants a file that is written: no -o -, no --dry-run")
    from graphfix.cli.console import stdout_kept
    from graphfix.cli.limits import page_of
    from graphfix.cli.progress import progress_hooks
    from graphfix.worker.limits import single_threaded

    with single_threaded():
        from graphfix.pipeline.files import RunRequest, run_file
    raw: list[bytes] = []
    given = source(asked.pop("model"))
    if asked["verify"] != "off":
        offer_template()
    request = RunRequest(given, provenance=not no_provenance, skip=skip or (), **asked)
    page = page_of(click.get_current_context())
    further: dict[str, Any] = {"put": raw.append} if out else {}
    with progress_hooks(page=page) as hooks, stdout_kept():
        result = run_file(request, hooks, **further)
    settings = settings_used(click.get_current_context())
    if settings:
        from graphfix.rendering.short_lines import SETTINGS

        notes = (f"{SETTINGS}{settings}", *result.report.notes)
        result = dataclasses.replace(result, report=dataclasses.replace(result.report, notes=notes))
    code = int(result.exit_code)
    step = None
    if (reports or example is not None or not as_json) and not request.dry_run and not out:
        step = _next_step(result, request.target, request.assume_ops)
    _write(reports, result, dry_run=request.dry_run, step=step)
    if example is not None:
        _write_example(example, step, result.report.target)
    for written in raw:
        write_out(written)
    if as_json:
        _show_json(result.report)
        return code
    _show(result, request, step, detail)
    return code


def _show_json(report: Report) -> None:
    """Print the report as JSON on stdout; what that has no field for goes to stderr."""
    from graphfix.cli.console import emit_json, say
    from graphfix.rendering.as_json import report_json

    for note in report.notes:
        say(f"graphfix: note: {note}")
    emit_json(report_json(report))


def _show(result: Result, request: RunRequest, step: NextStep | None, detail: Detail) -> None:
    """Print the report on stdout, or on stderr where the model itself goes to stdout."""
    from graphfix.cli.console import emit, say, style_for

    aside = request.output == STANDARD
    report, code, dry_run = result.report, int(result.exit_code), request.dry_run
    style = style_for(sys.stderr if aside else sys.stdout)
    if detail is Detail.WHOLE:
        from graphfix.rendering.text_report import report_text

        text = report_text(report, code, dry_run=dry_run, step=step, style=style)
    elif detail is Detail.VERDICT:
        from graphfix.rendering.short_report import verdict_line

        text = verdict_line(report, code, dry_run=dry_run)
    else:
        from graphfix.rendering.short_report import short_report

        text = short_report(report, code, dry_run=dry_run, step=step, style=style)
    (say if aside else emit)(text)


def _next_step(
    result: Result, asked: str | Target | None, assumed: Sequence[str]
) -> NextStep | None:
    """Return what to do with the file that was written; None where nothing was."""
    written = result.report.output
    name = asked or result.report.target
    if written is None or not name:
        return None
    from graphfix.engines.common_rules import given_inputs
    from graphfix.engines.engine import engine_of
    from graphfix.engines.interface import Ends, Fed, Written
    from graphfix.engines.targets import load_target
    from graphfix.ir.graph import shape_of_type

    target, model = load_target(name), result.model
    names = {text.rpartition("::")[2] for text in assumed}
    assumes = bool(names) and any(node.op in names for node in model.nodes())

    def contents() -> tuple[Sequence[Input], frozenset[str]]:
        given: list[Input] = []
        for tensor in given_inputs(model):
            shape = tensor.shape if tensor.info is None else shape_of_type(tensor.info.type)[1]
            # An unknown rank leaves the whole shape to the user.
            given.append((tensor.name, ("shape",) if shape is None else shape))
        return given, frozenset(node.op for node in model.nodes())

    def ends() -> Ends | None:
        from graphfix.ir.storage.weights import type_name

        names = (name for name, _ in result.report.open_inputs)
        examples = dict(zip(names, result.report.example_sizes, strict=True))
        fed: list[Fed] = []
        for tensor in given_inputs(model):
            kind = "" if tensor.opaque else type_name(tensor.elem_type)
            said = examples.get(tensor.name) or tensor.shape
            if tensor.shape is None or said is None:
                return None
            sizes = tuple(size for size in said if isinstance(size, int))
            if len(sizes) < len(tensor.shape):
                return None
            pairs = zip(tensor.shape, sizes, strict=True)
            left = {str(dim or "?"): size for dim, size in pairs if not isinstance(dim, int)}
            fed.append(Fed(tensor.name, kind, sizes, left))
        return Ends(tuple(fed), tuple(t.name for t in model.graph.outputs))

    step = Written(written.path, assumes, contents, ends)
    return engine_of(target.family).next_step(step, target)


def _write_example(path: Path, step: NextStep | None, target: str) -> None:
    """Write the program that feeds the file; not every target, nor every input, has one."""
    if step is None or not step.program:
        from graphfix.errors import UsageError

        raise UsageError(
            f"no program is known that feeds the file to {target or 'an engine, of no --target'}",
            where="--example",
            hint="the run itself is done",
        )
    write_reports((path,), {".py": lambda: step.program})


def _write(
    reports: Sequence[Path], result: Result, *, dry_run: bool, step: NextStep | None
) -> None:
    def html() -> str:
        from graphfix.rendering.html.page import rendered
        from graphfix.rendering.html.run_page import run_page

        return rendered(run_page(result, dry_run=dry_run, step=step))

    def json() -> str:
        from graphfix.rendering.as_json import report_json

        return json_text(report_json(result.report))

    def markdown() -> str:
        from graphfix.rendering.markdown import report_markdown

        return report_markdown(result.report, int(result.exit_code), dry_run=dry_run, step=step)

    write_reports(reports, {".html": html, ".json": json, ".md": markdown})
