"""The text view of the first node of two models that differs."""

from __future__ import annotations

from os.path import basename

from graphfix.proving.layers.divergence import Bisection, Divergence, Origin
from graphfix.rendering.diff_text import field_lines, node_lines, node_text, weight_lines
from graphfix.rendering.style import PLAIN, Style, capped, count, join, labelled, printable
from graphfix.rendering.wording import compared_word
from graphfix.report import Verdict

_COLOURS = {Verdict.EQUAL: "green", Verdict.MISMATCH: "red"}
_SHOWN = 6
_ORIGINS = {
    Origin.EQUAL: "equal in both",
    Origin.FED: "fed with the same values",
    Origin.STORED: "stored in the model",
    Origin.UNSEEN: "not in the second model, so not compared",
}


def bisect_text(before: str, after: str, found: Bisection, *, style: Style = PLAIN) -> str:
    """Return where two models part, for people."""
    names = f"{printable(basename(before))} against {printable(basename(after))}"
    colour = _COLOURS.get(found.status, "yellow")
    lines = [style.paint(f"{compared_word(found.status)}: {names}: {found.status}", "bold", colour)]
    verification = found.comparison.verification
    if verification.status is not found.status:
        lines += labelled("outputs", str(verification.status), indent=2)
    lines += labelled("reason", printable(verification.reason), indent=2)
    lines += labelled("inside", printable(found.comparison.layers_reason), indent=2)
    for note in found.comparison.notes:
        lines += labelled("note", printable(note), indent=2)
    layers = found.comparison.layers
    if found.divergence is not None:
        lines += ["", *_first(found.divergence, style)]
    elif layers and found.status is Verdict.EQUAL:
        lines += labelled("inside", f"{count(len(layers), 'tensor')} compared, none differs", 2)
    elif layers:
        lines += labelled("inside", f"{count(len(layers), 'tensor')} compared, no node blamed", 2)
    return join(lines)


def _first(found: Divergence, style: Style) -> list[str]:
    layer = found.layer
    lines = [style.paint("First node that differs", "bold"), f"  {node_text(layer.node)}"]
    named = layer.new_name != layer.name
    other = f", {printable(layer.new_name)} in the second model" if named else ""
    lines += labelled("output", f"{printable(layer.name)}{other}")
    lines += labelled("error", printable(_error(found)))
    if found.after.op != layer.node.op or found.after.name != layer.node.name:
        lines += labelled("there", node_text(found.after))
    for origin, text in _ORIGINS.items():
        names = [printable(o.name) for o in found.operands if o.origin is origin]
        if names:
            lines += labelled("reads", f"{capped(names, _SHOWN)}: {text}")
    lines += ["", style.paint("What is written differently there", "bold")]
    entries = [
        *field_lines(found.fields),
        *[weight_lines(change) for change in found.weights],
        *[node_lines(change) for change in found.inner],
    ]
    lines += [line for entry in entries for line in entry] or ["  nothing"]
    if found.unseen:
        lines += ["", style.paint("Nodes before it that only the first model has", "bold")]
        shown = found.unseen[-_SHOWN:]
        if len(found.unseen) > len(shown):
            lines.append(f"  {len(found.unseen) - len(shown)} more, and then")
        lines += [f"  {node_text(node)}" for node in shown]
    return lines


def _error(found: Divergence) -> str:
    layer = found.layer
    if layer.max_abs is None or layer.max_rel is None:
        return layer.reason
    largest = f"{layer.max_abs:.3g}"
    known = largest in layer.reason  # its sentence has the figure
    sizes = [*([] if known else [f"max abs {largest}"]), f"max rel {layer.max_rel:.3g}"]
    return f"{layer.reason} ({', '.join(sizes)})" if layer.reason else ", ".join(sizes)
