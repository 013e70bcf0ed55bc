"""The views of an explained log: text, and JSON as schemas/explain.schema.json has it."""

from __future__ import annotations

from graphfix.explanation.answers import Answer, Explained
from graphfix.explanation.diagnosis import Reading
from graphfix.rendering.as_json import SCHEMA, Json, plain
from graphfix.rendering.grouping import node_label
from graphfix.rendering.short_lines import one_line
from graphfix.rendering.style import PLAIN, Style, capped, count, join, labelled, printable, wrap
from graphfix.rendering.wording import Word

_NODES_SHOWN = 5
_LINE = 160  # characters of a line of the log


def explain_text(found: Explained, *, style: Style = PLAIN) -> str:
    """Return what a log says, for people."""
    reading = found.reading
    whose = (
        f"the log of {reading.speaker}" if reading.speaker else "this log (its engine is not known)"
    )
    about = _whose(reading)
    if not found.answers:
        word = style.paint(Word.NOT_DONE, "yellow", "bold")
        lines = [f"{word}: no message of {whose} is recognised", *about]
        if found.nearest:
            lines += ["", style.paint("The most similar messages that are known", "bold")]
            for answer in found.nearest:
                lines += ["", *_lines(answer, style)]
        first = "" if reading.target else "say whose log it is with --target NAME, or "
        text = f"Next: {first}make the smallest model that still fails, and report that one:"
        return join([*lines, "", *wrap(text), f"  {found.reduce}"])
    word = style.paint(Word.PROBLEMS, "red", "bold")
    lines = [f"{word}: {count(len(found.answers), 'message')} recognised in {whose}", *about]
    for answer in found.answers:
        lines += ["", *_lines(answer, style)]
    if not any(answer.command for answer in found.answers):
        lines += ["", "Where that does not help, make the smallest model that still fails:"]
        lines.append(f"  {found.reduce}")
    return join(lines)


def _whose(reading: Reading) -> list[str]:
    """Say what is not sure of the target: that the log is of another one, or of which version."""
    if reading.speaker != reading.target:
        text = (
            f"the log reads as one of {reading.speaker}, and shows nothing of {reading.target}, "
            f"which --target names: give --target {reading.speaker}, or leave --target out"
        )
    elif not reading.versioned:
        text = (
            f"the log does not say which version it is of; it is taken for {reading.target}, and "
            "--target NAME says otherwise"
        )
    else:
        text = ""
    return labelled("note", text, indent=2)


def _lines(answer: Answer, style: Style) -> list[str]:
    match = answer.match
    head = match.message.rule or "a message of the engine"
    after = " (follows from another)" if match.message.late else ""
    lines = [style.paint(f"  {head}{after}", "bold")]
    if match.said:
        lines += labelled("log", f"line {match.line}: {one_line(match.said, width=_LINE)}")
    nodes = [node_label(node) for node in answer.nodes if node_label(node)]
    if nodes or match.node:
        named = printable(" ".join(filter(None, (match.op, match.node))))
        lines += labelled("node", capped(nodes, _NODES_SHOWN) if nodes else named)
    else:
        lines += labelled("operator", printable(match.op))
    lines += labelled("cause", printable(answer.cause))
    lines += labelled("removed", f"by {capped(_removers(answer), 4)}" if answer.passes else "")
    lines += labelled("advice", printable(answer.advice))
    if answer.command:
        lines.append(f"    cure      {answer.command}")
    return lines


def _removers(answer: Answer) -> list[str]:
    """Return the passes that are made for a message; another opset is named where none is."""
    names = list(answer.passes)
    if answer.match.message.feature.startswith("form:") and len(names) > 1:
        return [name for name in names if name != "opset"]
    return names


def explain_json(found: Explained) -> Json:
    """Return the object that `graphfix explain --json` prints."""
    return {
        "schema": SCHEMA,
        "family": found.reading.family or None,
        "target": found.reading.target or None,
        "answers": [_answer(answer) for answer in found.answers],
        "nearest": [_answer(answer) for answer in found.nearest],
        "reduce": found.reduce,
    }


def _answer(answer: Answer) -> Json:
    match = answer.match
    return {
        "rule": match.message.rule or None,
        "line": match.line,
        "said": match.said,
        "late": match.message.late,
        "op": match.op,
        "node": match.node,
        "cause": answer.cause,
        "nodes": [plain(node) for node in answer.nodes],
        "passes": list(answer.passes),
        "command": answer.command or None,
        "advice": answer.advice,
    }
