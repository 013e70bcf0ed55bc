"""The text view of a run, for people: at most 80 columns, the verdict first."""

from __future__ import annotations

from collections import Counter
from math import isfinite

from graphfix.engines.interface import NextStep
from graphfix.rendering.grouping import Group, distinct, finding_blocks, legend, node_label
from graphfix.rendering.short_lines import next_steps, replay_line, reproduced_at
from graphfix.rendering.style import (
    PLAIN,
    Style,
    count,
    join,
    labelled,
    printable,
    size,
    table,
    wrap,
)
from graphfix.rendering.text_outcomes import outcome_lines
from graphfix.rendering.wording import (
    RUN_PROGRAM,
    Tone,
    engine_sentence,
    exit_meaning,
    headline,
    integers_sentence,
    intent_of,
    number,
    problems,
)
from graphfix.report import FileFacts, Report, Status, Verdict, Verification

TONES = {Tone.GOOD: "green", Tone.CAREFUL: "yellow", Tone.BAD: "red"}
_OUTPUTS_SHOWN = 8


def report_text(
    report: Report,
    exit_code: int,
    *,
    dry_run: bool = False,
    step: NextStep | None = None,
    style: Style = PLAIN,
) -> str:
    """Return the whole report as text.

    Args:
        report: What happened.
        exit_code: What the run ends with; explained when it is not 0.
        dry_run: Nothing was to be written.
        step: What to do with the file that was written; None where nothing is known.
        style: Colours or none.
    """
    said = headline(report, exit_code, dry_run=dry_run)
    lines = [style.paint(said.word, TONES[said.tone], "bold"), *wrap(printable(said.sentence)), ""]
    engine = engine_sentence(report.engine, report.target)
    lines += [*wrap(engine), ""] if engine else []
    integers = integers_sentence(report)
    lines += [*wrap(integers), ""] if integers else []
    lines += _files(report, dry_run)
    for title, body in (
        (
            f"Problems in the input, for {report.target or 'the ONNX checker'}",
            _before(report, style),
        ),
        ("Repairs", outcome_lines(report.outcomes, style)),
        (left_title(exit_code), _left(report, style)),
        ("Placement", _placement(report)),
        ("Cost", _cost(report)),
        ("Verification", verification_lines(report.verification)),
        ("The file as it came, node by node", _reading(report)),
        ("Interface changes", _io(report)),
        ("Reproducers", _reproducers(report)),
        ("Notes", _bullets(report.notes)),
        ("Next", _next(report, exit_code, step)),
    ):
        if body:
            lines += ["", style.paint(title, "bold"), *body]
    seconds = sum(s for s in report.seconds.values() if isfinite(s))
    lines += ["", f"{seconds:.1f} s, graphfix {report.version}"]
    if exit_code:
        lines += wrap(f"exit code {exit_code}: {exit_meaning(report, exit_code)}")
    return join(lines)


def _placement(report: Report) -> list[str]:
    if report.placed_after is None:
        return []
    from graphfix.rendering.placement_text import placed_run

    rows = placed_run(report, whole=True)
    return [line for label, text in rows for line in labelled(label, text, indent=2, width=8)]


def _cost(report: Report) -> list[str]:
    if report.costs is None:
        return []
    from graphfix.rendering.cost_text import cost_sentence

    return wrap(printable(cost_sentence(report.costs)), "  ")


def _reading(report: Report) -> list[str]:
    return [] if report.reading is None else verification_lines(report.reading)


def verification_lines(found: Verification) -> list[str]:
    """Return the whole-model comparison: status, way, and the outputs that moved most."""
    method = f" ({found.method})" if found.method else ""
    lines = wrap(printable(f"{found.status}{method}"), "  ")
    if found.reason:
        lines += wrap(printable(found.reason), "    ")
    rows = [
        (
            printable(o.name),
            f"max abs {number(o.max_abs)}",
            f"max rel {number(o.max_rel)}",
            "" if o.status is Verdict.EQUAL else str(o.status),
        )
        for o in found.outputs
    ]
    lines += table(rows[:_OUTPUTS_SHOWN], indent="    ")
    if len(rows) > _OUTPUTS_SHOWN:
        lines.append(f"    and {count(len(rows) - _OUTPUTS_SHOWN, 'more output')}")
    return lines


def left_title(exit_code: int) -> str:
    """Return the heading of what is left; after a difference it is about what was thrown away."""
    return "Problems left" if exit_code != 4 else "Problems left in the result, thrown away"


def _files(report: Report, dry_run: bool) -> list[str]:
    """Return input and output; the size of a file that was not written is not known."""
    lines = labelled("input", printable(report.input.path), indent=2, width=8)
    lines += labelled("", f"{_facts(report.input)}, {size(report.input.bytes)}", 2, 8)
    if report.output is not None:
        note = " (not written: dry run)" if dry_run else f", {size(report.output.bytes)}"
        lines += labelled("output", printable(report.output.path), indent=2, width=8)
        lines += labelled("", f"{_facts(report.output)}{note}", 2, 8)
    return lines


def _facts(facts: FileFacts) -> str:
    opset = f"opset {facts.opset}" if facts.opset else "no opset of ai.onnx"
    return f"{opset}, IR {facts.ir_version}, {count(facts.nodes, 'node')}"


def _before(report: Report, style: Style) -> list[str]:
    """Return what was found in the input, and how much of it is gone."""
    left = Counter((f.rule, f.feature, f.severity) for f in report.findings_after)

    def remark(group: Group) -> str:
        now = left[group.key]
        if not group.findings[0].blocks:
            return ""
        return "all repaired" if now == 0 else f"{now} left"

    if not report.findings_before:
        return []
    return [
        *finding_blocks(report.findings_before, style, remark),
        "",
        *legend((*report.findings_before, *report.findings_after)),
    ]


def _left(report: Report, style: Style) -> list[str]:
    """Return what is left: shortly, with the reasons of the passes that could not help."""
    left = problems(report.findings_after)
    if not left:
        return ["  none"] if problems(report.findings_before) else []
    reported = {(f.rule, f.feature, f.severity) for f in report.findings_before}
    lines = finding_blocks(left, style, reported=reported)
    helpers = {name for f in left for name in f.removed_by}
    reasons = distinct(
        f"{o.pass_id}: {o.reason}"
        for o in report.outcomes
        if o.status in (Status.REFUSED, Status.FAILED) and o.pass_id in helpers
    )
    kept_away = (f for f in left if f.withheld)
    reasons += distinct(f"{node_label(f.node) or 'the model'}: {f.withheld}" for f in kept_away)
    if reasons:
        lines += ["", "  Why the passes that remove these did not:"]
        lines += _bullets(reasons)
    return lines


def _io(report: Report) -> list[str]:
    """Return each change of the interface, old -> new."""
    return [
        line
        for c in report.io_changes
        for line in wrap(printable(f"{c.name}: {c.old} -> {c.new}"), "      ", "  ")
    ]


def _reproducers(report: Report) -> list[str]:
    """Return the command that shows each fault again; whole, so that it can be copied."""
    lines: list[str] = []
    for made in report.reproducers:
        lines += wrap(printable(reproduced_at(made)), "    ", "  ")
        lines += (
            [f"    {replay_line(made)}"] if made.folder else wrap(printable(made.reason), "    ")
        )
    return lines


def _next(report: Report, exit_code: int, step: NextStep | None) -> list[str]:
    """Return advice and the next command; its line stays whole so that it can be copied."""
    lines = _bullets(next_steps(report, exit_code))
    if step is not None and step.command:
        lines += [f"  {intent_of(step, report)}:", f"    {step.command}"]
        if step.note:
            lines += wrap(step.note, "  ")
    if step is not None and step.program:  # not indented, which Python would refuse
        lines += [f"  {RUN_PROGRAM}:", *step.program.splitlines()]
    return lines


def _bullets(texts: tuple[str, ...]) -> list[str]:
    return [line for text in texts for line in wrap(printable(text), "    ", "  - ")]
