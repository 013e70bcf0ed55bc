"""The page of edits by hand."""

from __future__ import annotations

from collections.abc import Sequence
from os.path import basename

from onnx import GraphProto, ModelProto

from graphfix.edits.engine import Done, Edited
from graphfix.ir.version import __version__
from graphfix.rendering.edit_views import edit_word, proof_text
from graphfix.rendering.html.gauge import gauge
from graphfix.rendering.html.overview import Mark, overview
from graphfix.rendering.html.page import Answer, Card, Page, Section
from graphfix.rendering.style import count, printable
from graphfix.rendering.wording import Tone


def edit_page(model: str, output: str, proto: ModelProto, found: Edited) -> Page:
    """Return the page of what edits made of a model.

    Args:
        model: The model.
        output: The file that it was written to; empty for none.
        proto: The model as it came.
        found: What was done.
    """
    after = found.model.proto
    marks = _changed(proto.graph, after.graph)
    tone = {0: Tone.GOOD, 4: Tone.BAD}.get(found.exit_code, Tone.CAREFUL)
    tone = tone if found.verified else Tone.CAREFUL
    wrote = found.exit_code != 4
    proved = sum(proof.equal for proof in found.proofs)
    kept = f"{proved} of {count(len(found.proofs), 'promise')} shown."
    files = [*map(str, found.parts), *([output] if output else [])] if wrote else []
    return Page(
        title=printable(basename(model)),
        word=edit_word(found),
        tone=tone,
        sentence=f"{count(len(found.steps), 'edit')}, in the order given.",
        answers=(
            Answer(
                "Is it done?",
                "Yes" if wrote else "No, nothing was written",
                printable(", ".join(files)),
                Tone.GOOD if wrote else Tone.BAD,
            ),
            Answer(
                "What changed?",
                count(len(marks), "node"),
                f"{count(len(proto.graph.node), 'node')} before, {len(after.graph.node)} after.",
                Tone.GOOD,
            ),
            Answer("Can I trust it?", _trusted(found), kept if found.verified else "", tone),
        ),
        facts=(("Model", printable(model)),),
        sections=(
            Section("edits", "Edits", cards=_cards(found.steps)),
            Section(
                "map",
                "The result",
                ("Read it column by column.",),
                overview=overview(after.graph, marks, changed="written differently"),
            ),
        ),
        version=__version__,
    )


def _trusted(found: Edited) -> str:
    if not found.verified:
        return "Nothing was proved: --verify off"
    return {0: "Yes, each promise was shown", 4: "No, a promise does not hold"}.get(
        found.exit_code, "Not all was shown"
    )


def _cards(steps: Sequence[Done]) -> tuple[Card, ...]:
    cards: list[Card] = []
    for at, step in enumerate(steps, 1):
        wrong = any(proof.wrong for proof in step.proofs)
        shown = all(proof.equal for proof in step.proofs)
        outputs = [o for proof in step.proofs for o in proof.verification.outputs]
        measured = [o for o in outputs if o.max_rel is not None]
        worst = max(measured, key=lambda o: o.max_rel or 0.0, default=None)
        cards.append(
            Card(
                f"e{at}",
                step.option,
                ("proved" if shown and step.proofs else "wrong" if wrong else "not shown",),
                Tone.BAD if wrong else Tone.GOOD if shown else Tone.CAREFUL,
                tuple(printable(text) for text in step.said),
                facts=tuple(("promise", printable(proof_text(proof))) for proof in step.proofs),
                gauge=gauge(worst, wrong=wrong) if worst is not None else None,
            )
        )
    return tuple(cards)


def _changed(before: GraphProto, after: GraphProto) -> dict[int, Mark]:
    """Mark the nodes that are not written like one of the model as it came."""
    known = {node.SerializeToString(deterministic=True) for node in before.node}
    return {
        at: Mark("changed", "")
        for at, node in enumerate(after.node)
        if node.SerializeToString(deterministic=True) not in known
    }
