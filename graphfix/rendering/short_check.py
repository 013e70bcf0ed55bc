"""What `graphfix check` prints unless asked for more: the answer and at most 20 lines in all."""

from __future__ import annotations

from collections.abc import Sequence
from os.path import basename

from graphfix.rendering.grouping import distinct, group_findings
from graphfix.rendering.short_lines import (
    Listed,
    fitted,
    labelled_short,
    labelled_whole,
    notes_parted,
    one_line,
    problem_line,
    problem_lines,
    short_legend,
    subject,
    whole_problem,
    whole_text,
)
from graphfix.rendering.style import PLAIN, Style, capped, count, join, printable
from graphfix.rendering.wording import Word, engine_sentence, problems
from graphfix.report import EngineAsked, Finding, Placement


def answer_line(path: str, target: str, findings: Sequence[Finding]) -> str:
    """Return the answer of a check in one line: ``PROBLEMS: 3 in a.onnx for opencv4.10``."""
    blocking = problems(tuple(findings))
    name = printable(basename(path) or path)
    if not blocking:
        return f"{Word.OK}: no problem is known in {name} for {target}"
    possible = sum(not f.certain for f in blocking)
    doubt = f", {possible} of them possible" if possible else ""
    return f"{Word.PROBLEMS}: {len(blocking)} in {name} for {target}{doubt}"


def short_check(
    path: str,
    target: str,
    findings: Sequence[Finding],
    notes: Sequence[str] = (),
    *,
    engine: EngineAsked | None = None,
    placed: Placement | None = None,
    command: str = "",
    style: Style = PLAIN,
) -> str:
    """Return what a check found in at most 20 lines.

    Args:
        path: The model.
        target: The resolved target.
        findings: What the rules said.
        notes: Sentences that belong to no finding.
        engine: Whether the engine itself was given the file.
        placed: Where the nodes run.
        command: What repairs the model.
        style: Colours or none.
    """
    found = tuple(findings)
    blocking = problems(found)
    word, _, rest = answer_line(path, target, found).partition(": ")
    colour = "red" if blocking else "green"
    lines = [f"{style.paint(word, colour, 'bold')}: {rest}"]
    lines += labelled_short("engine", engine_sentence(engine, target, "the file"))
    if placed is not None:
        from graphfix.rendering.placement_text import placed_sentence

        lines += labelled_short("placed", placed_sentence(placed))
    settings, notes = notes_parted(notes)
    lines += labelled_whole("settings", settings)
    if len(notes) == 1:
        lines += labelled_short("notes", notes[0])
    groups = group_findings(found)
    lists = [
        Listed(
            f"Problems: {count(sum(g.findings[0].blocks for g in groups), 'kind')}",
            [problem_lines(g) for g in groups if g.findings[0].blocks],
            whole=[whole_problem(g) for g in groups if g.findings[0].blocks],
            legend=short_legend(blocking),
        ),
        Listed(
            "Findings that do not block",
            [[problem_line(g)] for g in groups if not g.findings[0].blocks],
            minor=bool(blocking),
            whole=[whole_problem(g) for g in groups if not g.findings[0].blocks],
            legend=short_legend(f for f in found if not f.blocks),
        ),
        Listed(
            "Notes",
            [[one_line(note, "  - ")] for note in notes] if len(notes) > 1 else [],
            whole=[whole_text(note, "  - ", "    ") for note in notes] if len(notes) > 1 else [],
        ),
        _next(command, blocking),
    ]
    return join(fitted(lines, lists, style))


def _next(command: str, blocking: Sequence[Finding]) -> Listed:
    """Return the command that repairs what can be, and say for what no pass is known."""
    groups = group_findings(blocking)
    helpless = distinct(subject(g) for g in groups if g.nodes and not g.removed_by)
    if command and any(group.removed_by for group in groups):
        entries = [[f"  {printable(command)}"]]
        if helpless:
            text = f"no pass is made for {capped(helpless, 4)}; others may remove them"
            entries.append([one_line(text, "  ")])
        return Listed("Next: repair it", entries)
    title = one_line(f"Next: no pass is made for {capped(helpless, 4)}; see what a run does")
    return Listed(title, [[f"  {printable(command)}"]] if helpless and command else [])
