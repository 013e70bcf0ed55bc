"""The text view of a comparison by numbers."""

from __future__ import annotations

from os.path import basename

from graphfix.proving.layers.comparison import Comparison, Layer
from graphfix.rendering.diff_text import node_text
from graphfix.rendering.style import PLAIN, Style, count, join, labelled, printable, table, wrap
from graphfix.rendering.wording import compared_word
from graphfix.report import Verdict

_SHOWN = 40
_COLOURS = {Verdict.EQUAL: "green", Verdict.MISMATCH: "red"}


def compare_text(before: str, after: str, found: Comparison, *, style: Style = PLAIN) -> str:
    """Return how two models compare on the same inputs, for people."""
    names = f"{printable(basename(before))} against {printable(basename(after))}"
    colour = _COLOURS.get(found.status, "yellow")
    lines = [style.paint(f"{compared_word(found.status)}: {names}: {found.status}", "bold", colour)]
    if found.verification.status is not found.status:
        lines += labelled("outputs", str(found.verification.status), indent=2)
    lines += labelled("reason", printable(found.verification.reason), indent=2)
    lines += labelled("method", found.verification.method, indent=2)
    for note in found.notes:
        lines += labelled("note", printable(note), indent=2)
    if found.verification.outputs:
        rows = [("max abs", "max rel", "status", "output")]
        rows += [
            (_number(o.max_abs), _number(o.max_rel), str(o.status), printable(o.name))
            for o in found.verification.outputs
        ]
        lines += ["", style.paint("Outputs", "bold"), *table(rows)]
    lines += _layers(found, style)
    return join(lines)


def _layers(found: Comparison, style: Style) -> list[str]:
    if found.layers_reason:
        return ["", *wrap(f"Tensors inside: {printable(found.layers_reason)}", "  ", "")]
    if not found.layers:
        return []
    lines = ["", style.paint("Tensors inside", "bold")]
    wrong = [layer for layer in found.layers if layer.status is not Verdict.EQUAL]
    on = f" (on {count(found.layers_samples, 'sample')})" if found.layers_samples else ""
    text = f"{count(len(found.layers), 'tensor')} compared, {len(wrong)} differ{on}"
    if found.only_before or found.only_after:
        text += f"; {found.only_before} only in the first, {found.only_after} only in the second"
    lines += wrap(text, "  ")
    if found.layers_samples > found.verification.samples > 0:
        text = (
            f"the outputs above are of {count(found.verification.samples, 'sample')}: comparing "
            "them ends early where they differ"
        )
        lines += wrap(text, "  ")
    if found.first is None:
        return lines
    first = found.first
    lines += ["", style.paint("First that differs", "bold")]
    lines += wrap(f"{printable(first.name)}, made by {node_text(first.node)}", "    ", "  ")
    if first.new_name != first.name:
        lines += wrap(f"called {printable(first.new_name)} in the second model", "    ")
    lines += wrap(first.reason, "    ")
    # Constants that are equal say nothing; JSON has them all.
    listed = [layer for layer in found.layers if layer.node.op != "Constant" or layer in wrong]
    start = max(0, listed.index(first) - 3)
    shown = listed[start : start + _SHOWN]
    rows = [("depth", "max abs", "max rel", "status", "tensor"), *map(_row, shown)]
    lines += ["", *table(rows)]
    if len(shown) < len(found.layers):
        lines.append(f"  {len(shown)} of {len(found.layers)} shown (--json lists all)")
    return lines


def _row(layer: Layer) -> tuple[str, str, str, str, str]:
    text = f"{printable(layer.name)} ({printable(layer.node.op)})"
    return (
        str(layer.depth),
        _number(layer.max_abs),
        _number(layer.max_rel),
        str(layer.status),
        text,
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
