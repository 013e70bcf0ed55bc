"""What the passes did, as text: applied, refused, failed, and what was not needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import prod

from graphfix.rendering.grouping import distinct, few_reasons, node_label
from graphfix.rendering.style import Style, capped, count, labelled, printable, wrap
from graphfix.report import Accuracy, Outcome, Status, Verdict

_COLOURS = {Status.APPLIED: "green", Status.REFUSED: "yellow", Status.FAILED: "red"}
_NODES_SHOWN = 3


def outcome_lines(outcomes: Iterable[Outcome], style: Style) -> list[str]:
    """Return one block per outcome that says something, and a line for those not needed."""
    found, untold = few_reasons(outcomes)
    lines: list[str] = []
    for status in (Status.APPLIED, Status.REFUSED, Status.FAILED):
        for outcome in (o for o in found if o.status is status):
            lines += _block(outcome, style)
    for sentence in untold:
        lines += wrap(sentence, "    ", "  ")
    idle = distinct(o.pass_id for o in found if o.status is Status.NOT_NEEDED)
    busy = {o.pass_id for o in found if o.status is not Status.NOT_NEEDED}
    idle = tuple(name for name in idle if name not in busy)
    if idle:
        lines += wrap(f"not needed: {capped(idle, 6)}", "    ", "  ")
    for outcome in found:  # why a pattern that was named is not there
        if outcome.status is Status.NOT_NEEDED and outcome.reason and outcome.pass_id in idle:
            at = ", ".join(node_label(site.node) for site in outcome.sites)
            lines += wrap(f"{outcome.pass_id} at {at}: {outcome.reason}", "      ", "    ")
    return lines


def _block(outcome: Outcome, style: Style) -> list[str]:
    """Return the lines of one outcome."""
    places = f" at {count(len(outcome.sites), 'place')}" if outcome.sites else ""
    kinds = Counter(site.accuracy for site in outcome.sites)
    accuracy = ""
    if outcome.status is Status.APPLIED and kinds:
        accuracy = ", " + " and ".join(
            kind if len(kinds) == 1 else f"{kinds[kind]} {kind}" for kind in Accuracy if kinds[kind]
        )
    word = style.paint(str(outcome.status), _COLOURS[outcome.status])
    lines = [f"  {outcome.pass_id}: {word}{places}{accuracy}{_proof(outcome)}"]
    lines += labelled("why", printable(outcome.reason), width=8)
    if outcome.status is not Status.APPLIED:
        nodes = distinct(node_label(site.node) for site in outcome.sites)
        lines += labelled("nodes", capped(nodes, _NODES_SHOWN), width=8)
    for note in distinct(site.note for site in outcome.sites):
        lines += labelled("note", printable(note), width=8)
    return lines + labelled("sizes", _sizes(outcome), width=8)


def _sizes(outcome: Outcome) -> str:
    """Return between which sizes of inputs the sites were compared on their own."""
    proofs = [site.certificate for site in outcome.sites if site.certificate is not None]
    shapes = {shape for proof in proofs for each in proof.sizes for shape in each.shapes}
    if not shapes:
        return ""
    ends = (min(shapes, key=_length), max(shapes, key=_length))
    texts = distinct("x".join(map(str, shape)) for shape in ends)
    return f"compared with inputs of {' to '.join(texts)}"


def _length(shape: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    return prod(shape), shape


def _proof(outcome: Outcome) -> str:
    """Return how many sites were compared on their own, and with what result."""
    verdicts = Counter(s.certificate.status for s in outcome.sites if s.certificate is not None)
    proofs = [s.certificate for s in outcome.sites if s.certificate is not None]
    unrun = sum(proof.status is Verdict.EQUAL and not proof.samples for proof in proofs)
    verdicts[Verdict.EQUAL] -= unrun
    said = "".join(
        f", {verdicts[verdict]} compared {verdict}" for verdict in Verdict if verdicts[verdict]
    )
    return f"{said}, {unrun} unchanged (not run)" if unrun else said
