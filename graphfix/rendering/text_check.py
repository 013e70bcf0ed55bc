"""The text view of `graphfix check`: the answer first, then each problem."""

from __future__ import annotations

from collections.abc import Sequence

from graphfix.rendering.grouping import finding_blocks, legend
from graphfix.rendering.style import PLAIN, Style, count, join, printable, wrap
from graphfix.rendering.text_explanations import explanation_lines, named_pattern_lines
from graphfix.rendering.wording import CHECK_EXIT_CODES, Word, engine_sentence, problems
from graphfix.report import EngineAsked, Finding, Placement
from graphfix.report.explanations import Explanation, NamedPattern


def check_text(
    path: str,
    target: str,
    findings: Sequence[Finding],
    notes: Sequence[str] = (),
    *,
    explain: bool = False,
    remedies: Sequence[str] = (),
    explanations: Sequence[Explanation] = (),
    named: Sequence[NamedPattern] = (),
    engine: EngineAsked | None = None,
    placed: Placement | None = None,
    command: str = "",
    style: Style = PLAIN,
) -> str:
    """Return what a check found.

    Args:
        path: The model.
        target: The resolved target.
        findings: What the rules said.
        notes: Sentences that belong to no finding.
        explain: Show every node and the source of each fact.
        remedies: With `explain`, one line for each pass that helps.
        explanations: With `explain`, what a run would do about each finding.
        named: With `explain`, what passes that run only when they are named would do.
        engine: Whether the engine itself was given the file.
        placed: Where the nodes run.
        command: What repairs the model.
        style: Colours or none.
    """
    found = tuple(findings)
    blocking = problems(found)
    if blocking:
        certain = sum(f.certain for f in blocking)
        doubt = "" if certain == len(blocking) else f", {len(blocking) - certain} of them possible"
        word, colour = Word.PROBLEMS, "red"
        sentence = f"{count(len(blocking), 'problem')} for {target} in {printable(path)}{doubt}."
    else:
        word, colour = Word.OK, "green"
        sentence = f"No problem is known in {printable(path)} for {target}."
    sentence = f"{sentence} {engine_sentence(engine, target, 'the file')}"
    lines = [style.paint(word, colour, "bold"), *wrap(sentence)]
    if placed is not None:
        from graphfix.rendering.placement_text import placed_sentence

        lines += wrap(f"Placed: {placed_sentence(placed, whole=True)}.")
    if found:
        lines += ["", *finding_blocks(found, style, every_node=explain), "", *legend(found)]
    if more := explanation_lines(explanations, style):
        lines += ["", style.paint("What a run would do", "bold"), *more]
    if more := named_pattern_lines(named):
        lines += ["", style.paint("Passes by name", "bold"), *more]
    for title, texts in (("Passes that help", remedies), ("Notes", notes)):
        if texts:
            lines += ["", style.paint(title, "bold")]
            lines += [line for text in texts for line in wrap(printable(text), "    ", "  - ")]
    if command and any(f.removed_by for f in blocking):
        lines += ["", f"Next: {printable(command)}"]
    if blocking:
        lines += ["", f"exit code 1: {CHECK_EXIT_CODES[1]}"]
    return join(lines)
