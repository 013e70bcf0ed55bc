"""The views of a reduction: text, and JSON as schemas/reduce.schema.json has it."""

from __future__ import annotations

from os.path import basename

from graphfix.reduction.reduction import Extent, Reduction
from graphfix.rendering.as_json import SCHEMA, Json
from graphfix.rendering.style import PLAIN, Style, count, join, labelled, printable, size, wrap
from graphfix.rendering.wording import Word


def reduce_text(model: str, output: str, found: Reduction, *, style: Style = PLAIN) -> str:
    """Return what became of a model, for people."""
    name = printable(basename(model))
    if (found.after.nodes, found.after.weights) == (found.before.nodes, found.before.weights):
        said = f"{Word.OK}: nothing smaller than {name} was found to fail, a copy was written"
        lines = [style.paint(said, "bold")]
    else:
        lines = [style.paint(f"{Word.CHANGED}: {name} reduced", "bold", "green")]
    lines += labelled("input", f"{printable(model)}: {_extent(found.before)}", indent=2)
    lines += labelled("output", f"{printable(output)}: {_extent(found.after)}", indent=2)
    lines += labelled("failure", printable(found.failure), indent=2)
    lines += labelled("runs", str(found.runs), indent=2)
    for note in found.notes:
        lines += labelled("note", printable(note), indent=2)
    if found.output:
        lines += ["", style.paint("What the command says of it", "bold")]
        for line in found.output.splitlines():
            lines += wrap(printable(line), "    ", "  ")
    return join(lines)


def reduce_json(model: str, output: str, found: Reduction) -> Json:
    """Return the object that `graphfix reduce --json` prints."""
    return {
        "schema": SCHEMA,
        "input": {"path": model, **_json(found.before)},
        "output": {"path": output, **_json(found.after)},
        "failure": found.failure,
        "said": found.output,
        "runs": found.runs,
        "complete": found.complete,
        "notes": list(found.notes),
    }


def _extent(found: Extent) -> str:
    return f"{count(found.nodes, 'node')}, {size(found.weights)} of weights, {size(found.bytes)}"


def _json(found: Extent) -> Json:
    return {"nodes": found.nodes, "weight_bytes": found.weights, "bytes": found.bytes}
