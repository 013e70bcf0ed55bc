"""The Markdown view of a run, for an issue or a merge request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphfix.engines.interface import NextStep
from graphfix.rendering.grouping import distinct, few_reasons, group_findings, node_label
from graphfix.rendering.short_lines import next_steps, replay_line, reproduced_at
from graphfix.rendering.style import capped, count, printable, size
from graphfix.rendering.text_report import left_title
from graphfix.rendering.wording import (
    RUN_PROGRAM,
    engine_sentence,
    exit_meaning,
    headline,
    integers_sentence,
    intent_of,
    number,
)
from graphfix.report import (
    FileFacts,
    Finding,
    Outcome,
    Report,
    Reproduced,
    Status,
    Verification,
)

_NODES_SHOWN = 5


def report_markdown(
    report: Report, exit_code: int, *, dry_run: bool = False, step: NextStep | None = None
) -> str:
    """Return the whole report as Markdown; the arguments are those of the text view."""
    said = headline(report, exit_code, dry_run=dry_run)
    parts = [
        f"# {said.word}\n\n{_cell(said.sentence)}",
        _cell(engine_sentence(report.engine, report.target)),
        _cell(integers_sentence(report)),
        f"Exit code {exit_code}: {exit_meaning(report, exit_code)}. Target: "
        f"{report.target or 'none'}. graphfix {report.version}.",
        _files(report.input, report.output),
        _section("Problems in the input", _findings(report.findings_before)),
        _section("Repairs", _outcomes(report.outcomes)),
        _section(left_title(exit_code), _findings(report.findings_after) or "None."),
        _section("Placement", _placement(report)),
        _section("Cost", _cost(report)),
        _section("Verification", _verification(report.verification)),
        _section(
            "Interface changes",
            _table(
                ("name", "old", "new"),
                [(_code(c.name), _code(c.old), _code(c.new)) for c in report.io_changes],
            ),
        ),
        _section("Reproducers", _reproducers(report.reproducers)),
        _section("Notes", _bullets(report.notes)),
        _section("Next", _next(report, exit_code, step)),
        _section(
            "Seconds",
            _table(
                ("stage", "seconds"), [(_cell(k), f"{v:.2f}") for k, v in report.seconds.items()]
            ),
        ),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _files(source: FileFacts, output: FileFacts | None) -> str:
    rows = [("input", source)] + ([("output", output)] if output is not None else [])
    return _table(
        ("file", "path", "opset", "IR", "nodes", "size", "sha256"),
        [
            (
                label,
                _code(f.path),
                str(f.opset),
                str(f.ir_version),
                str(f.nodes),
                size(f.bytes),
                _code(f.sha256),
            )
            for label, f in rows
        ],
    )


def _findings(findings: Iterable[Finding]) -> str:
    return _table(
        ("severity", "feature", "nodes", "what", "engine's text", "removed by"),
        [
            (
                str(g.severity) if g.certain else f"{g.severity} (possibly)",
                _code(g.feature),
                f"{len(g.findings)}: {_cell(capped(g.nodes, _NODES_SHOWN))}"
                if g.nodes
                else "the model",
                _cell(capped(distinct(f.message for f in g.findings), 2)),
                _cell(capped(distinct(f.engine_text for f in g.findings), 2)),
                _cell(g.removers or "no pass"),
            )
            for g in group_findings(findings)
        ],
    )


def _outcomes(outcomes: Iterable[Outcome]) -> str:
    shown, untold = few_reasons(outcomes)
    table = _table(
        ("pass", "status", "places", "accuracy", "why", "nodes"),
        [
            (
                _code(o.pass_id),
                str(o.status),
                str(len(o.sites)),
                ", ".join(distinct(str(s.accuracy) for s in o.sites)),
                _cell("; ".join(distinct((o.reason, *(s.note for s in o.sites))))),
                _cell(capped(distinct(node_label(s.node) for s in o.sites), _NODES_SHOWN)),
            )
            for o in shown
            if o.status is not Status.NOT_NEEDED
        ],
    )
    return "\n\n".join([table, *(_cell(sentence) for sentence in untold)])


def _verification(found: Verification) -> str:
    method = f", {_cell(found.method)}" if found.method else ""
    reason = f": {_cell(found.reason)}" if found.reason else ""
    rows = [
        (_code(o.name), number(o.max_abs), number(o.max_rel), str(o.status)) for o in found.outputs
    ]
    body = _table(("output", "max abs", "max rel", "status"), rows)
    compared = f" ({count(len(rows), 'output')})" if rows else ""
    return f"**{found.status}**{method}{compared}{reason}" + (f"\n\n{body}" if body else "")


def _reproducers(made: Iterable[Reproduced]) -> str:
    return _table(
        ("fault", "seen again by"),
        [(_cell(reproduced_at(r)), _code(replay_line(r)) or _cell(r.reason)) for r in made],
    )


def _next(report: Report, code: int, step: NextStep | None) -> str:
    parts = [_bullets(next_steps(report, code), raw=True)]
    if step is not None:
        if step.command:
            parts += [step.note, f"{intent_of(step, report)}:", f"```sh\n{step.command}\n```"]
        if step.program:
            parts += [f"{RUN_PROGRAM}:", f"```python\n{step.program}```"]
    return "\n\n".join(part for part in parts if part)


def _section(title: str, body: str) -> str:
    return f"## {title}\n\n{body}" if body else ""


def _placement(report: Report) -> str:
    if report.placed_after is None:
        return ""
    from graphfix.rendering.placement_text import placed_run

    return _bullets([f"{label}: {text}" for label, text in placed_run(report, whole=True)])


def _cost(report: Report) -> str:
    if report.costs is None:
        return ""
    from graphfix.rendering.cost_text import cost_sentence

    return _bullets(cost_sentence(report.costs).split("; "))


def _bullets(texts: Sequence[str], *, raw: bool = False) -> str:
    return "\n".join(f"- {_outside_code(text) if raw else _cell(text)}" for text in texts)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _outside_code(text: str) -> str:
    """Return a sentence with its code as it is, and what is around it as text."""
    parts = " ".join(text.split()).split("`")
    return "`".join(
        printable(part) if place % 2 else _cell(f"x{part}x")[1:-1]
        for place, part in enumerate(parts)
    )


def _cell(text: str) -> str:
    """Return text that neither ends a table cell nor becomes markup."""
    flat = printable(" ".join(text.split()))
    for char in "\\`*_[]<>|#~":
        flat = flat.replace(char, f"\\{char}")
    return flat


def _code(text: str) -> str:
    """Return a name as code; a bar would end the cell even there, a backtick the code."""
    flat = printable(" ".join(text.split())).replace("|", "\\|")
    return f"`{flat.replace('`', chr(39))}`" if flat else ""
