"""The pages of two models: how they are written, what they compute, where they part."""

from __future__ import annotations

from collections.abc import Iterable
from os.path import basename

from onnx import ModelProto

from graphfix.difference.difference import Difference, FieldChange, Presence, WeightChange
from graphfix.ir.version import __version__
from graphfix.proving.layers.comparison import Comparison, Layer
from graphfix.proving.layers.divergence import Bisection, Divergence
from graphfix.rendering.diff_text import node_text, weight_sentences
from graphfix.rendering.html.finding_cards import node_links
from graphfix.rendering.html.gauge import gauge
from graphfix.rendering.html.marks import marked
from graphfix.rendering.html.overview import Mark, overview
from graphfix.rendering.html.page import Answer, Card, Page, Section, Table
from graphfix.rendering.html.places import Places
from graphfix.rendering.html.plot import plotted
from graphfix.rendering.style import count, printable
from graphfix.rendering.wording import Tone, number
from graphfix.report import NodeRef, Verdict

_TONES = {Verdict.EQUAL: Tone.GOOD, Verdict.MISMATCH: Tone.BAD}
_SAID = {Verdict.EQUAL: "Yes", Verdict.MISMATCH: "No", Verdict.LOSSY: "Within a loss"}
_READ = ("Read it column by column.",)


def diff_page(
    before: str, after: str, protos: tuple[ModelProto, ModelProto], found: Difference
) -> Page:
    """Return the page of how two models are written.

    Args:
        before: The first model.
        after: The second.
        protos: Both.
        found: What differs.
    """
    old, new = Places(protos[0]), Places(protos[1], "m")
    nodes = tuple(
        Card(
            f"d{at}",
            node_text(change.before),
            ("node",),
            lines=(),
            table=_fields(change.fields),
            links=node_links((change.before,), old),
        )
        for at, change in enumerate(found.nodes, 1)
    )
    weights = tuple(_weight(change, at, old) for at, change in enumerate(found.weights, 1))
    gone = {at: Mark("left", "") for node in found.removed for at in old.of(node)}
    come = {at: Mark("fixed", "") for node in found.added for at in new.of(node)}
    written = len(found.removed) + len(found.added) + len(found.nodes)
    return Page(
        title=_title(before, "and", after),
        word="THE SAME" if found.same else "DIFFERENT",
        tone=Tone.GOOD if found.same else Tone.CAREFUL,
        sentence=f"{count(found.matched, 'node')} are in both.",
        answers=(
            _answer("Are they the same?", found.same, "Yes, names aside", "No", ""),
            _answer(
                "What changed in the graph?",
                not written,
                "Nothing",
                count(written, "node"),
                f"{len(found.removed)} removed, {len(found.added)} added, "
                f"{len(found.nodes)} changed.",
            ),
            _answer(
                "And in the weights?",
                not found.weights,
                "Nothing",
                count(len(found.weights), "weight"),
                f"{count(found.renamed_tensors, 'tensor')} only bear other names.",
            ),
        ),
        facts=(("First", printable(before)), ("Second", printable(after))),
        sections=(
            Section("interface", "Inputs and outputs", table=_fields(found.interface)),
            Section("changed", "Changed nodes", cards=nodes),
            Section("removed", "Removed nodes", table=_nodes(found.removed)),
            Section("added", "Added nodes", table=_nodes(found.added)),
            Section("weights", "Weights", cards=weights),
            Section("types", "Recorded types", table=_fields(found.types)),
            Section("renamed", "Renamed", table=_fields(found.renamed_interface)),
            Section(
                "map",
                "The first graph",
                _READ,
                overview=overview(
                    protos[0].graph,
                    {**marked({"changed": nodes}), **gone},
                    left="removed",
                    changed="changed",
                ),
            ),
            Section(
                "second",
                "The second graph",
                _READ,
                overview=overview(protos[1].graph, come, "m", fixed="added"),
            ),
            Section("metadata", "Metadata", table=_fields(found.metadata)),
        ),
        version=__version__,
    )


def compare_page(before: str, after: str, proto: ModelProto, found: Comparison) -> Page:
    """Return the page of what two models compute; `proto` is the first."""
    return _numbers(before, after, proto, found, found.status, ())


def bisect_page(before: str, after: str, proto: ModelProto, found: Bisection) -> Page:
    """Return the page of where two models part; `proto` is the first."""
    cards = () if found.divergence is None else (_divergence(found.divergence, Places(proto)),)
    first = Section("first", "First node that differs", cards=cards)
    return _numbers(before, after, proto, found.comparison, found.status, (first,))


def _numbers(
    before: str,
    after: str,
    proto: ModelProto,
    found: Comparison,
    status: Verdict,
    first: tuple[Section, ...],
) -> Page:
    places, verification = Places(proto), found.verification
    wrong = [layer for layer in found.layers if layer.status is not Verdict.EQUAL]
    cards = tuple(_layer(layer, at, places) for at, layer in enumerate(wrong, 1))
    tone = _TONES.get(status, Tone.CAREFUL)
    rows = tuple(
        (printable(o.name), str(o.status), number(o.max_abs), number(o.max_rel))
        for o in verification.outputs
    )
    inside = f"{count(len(found.layers), 'tensor')} inside compared, {len(wrong)} differ."
    where = printable(f"{wrong[0].name}, made by {wrong[0].node.op}") if wrong else ""
    return Page(
        title=_title(before, "against", after),
        word=str(status).upper(),
        tone=tone,
        sentence=printable(verification.reason) or f"The outputs are {verification.status}.",
        answers=(
            Answer("Do they compute the same?", said(status), printable(verification.reason), tone),
            _answer("Where do they part?", not wrong, "Nowhere that was seen", where, inside),
            Answer(
                "How was it compared?",
                "By running both" if verification.method else "It was not",
                _compared(found, len(rows)),
                Tone.GOOD if verification.method and not found.layers_reason else Tone.CAREFUL,
            ),
        ),
        facts=(("First", printable(before)), ("Second", printable(after))),
        sections=(
            *first,
            Section(
                "verification",
                "Outputs",
                table=Table(("output", "status", "max abs", "max rel"), rows),
            ),
            Section(
                "depth",
                "Error along the depth",
                ("The largest difference of each tensor, relative to its magnitude.",)
                if found.layers
                else (),
                plot=plotted(found.layers),
            ),
            Section("layers", "Tensors that differ", cards=cards),
            Section("notes", "Notes", tuple(map(printable, found.notes))),
            Section(
                "map",
                "The first graph",
                _READ,
                overview=overview(
                    proto.graph, marked({"left": (*cards, *first_cards(first))}), left="differs"
                ),
            ),
        ),
        version=__version__,
    )


def said(status: Verdict) -> str:
    """Return the answer to whether two models compute the same."""
    return _SAID.get(status, f"That was not shown ({status})")


def _compared(found: Comparison, outputs: int) -> str:
    why = found.layers_reason or f"{count(outputs, 'output')} compared"
    method = found.verification.method
    return printable(f"{f'{method}; {why}' if method else why}.")


def first_cards(sections: Iterable[Section]) -> tuple[Card, ...]:
    """Return the cards of some sections."""
    return tuple(card for section in sections for card in section.cards)


def _divergence(found: Divergence, places: Places) -> Card:
    layer = found.layer
    operands = ", ".join(f"{printable(o.name)} ({o.origin})" for o in found.operands)
    unseen = "; ".join(node_text(node) for node in found.unseen[-6:])
    facts = (
        ("there", node_text(found.after)),
        ("reads", operands),
        ("only in the first, before it", unseen),
    )
    weights = tuple(map(_weight_text, found.weights))
    inner = tuple(node_text(change.before) for change in found.inner)
    return Card(
        "first-node",
        node_text(layer.node),
        (str(layer.status),),
        Tone.BAD,
        (printable(layer.reason), *weights, *inner),
        facts=tuple((label, text) for label, text in facts if text),
        links=node_links((layer.node,), places),
        table=_fields(found.fields),
    )


def _layer(layer: Layer, at: int, places: Places) -> Card:
    facts = (
        ("made by", node_text(layer.node)),
        ("depth", str(layer.depth)),
        ("in the second model", printable(layer.new_name)),
    )
    return Card(
        f"y{at}",
        printable(layer.name),
        (str(layer.status), printable(layer.node.op)),
        Tone.BAD,
        (printable(layer.reason),) if layer.reason else (),
        facts=facts,
        links=node_links((layer.node,), places),
        gauge=gauge(layer, wrong=True),
    )


def _weight_text(change: WeightChange) -> str:
    name, *sentences = weight_sentences(change)
    return printable(": ".join((f"{change.presence} weight {name}", *sentences[:1])))


def _weight(change: WeightChange, at: int, places: Places) -> Card:
    name, *sentences = weight_sentences(change)
    tone = Tone.BAD if change.presence is Presence.REMOVED else Tone.CAREFUL
    links = node_links(change.used_by, places) if change.presence is not Presence.ADDED else ()
    return Card(f"w{at}", name, (str(change.presence),), tone, tuple(sentences), links=links)


def _fields(changes: Iterable[FieldChange]) -> Table:
    rows = ((printable(c.where), printable(c.field), _value(c.old), _value(c.new)) for c in changes)
    return Table(("where", "what", "first", "second"), tuple(rows))


def _nodes(nodes: Iterable[NodeRef]) -> Table:
    return Table(("node",), tuple((node_text(node),) for node in nodes))


def _value(text: str | None) -> str:
    return "none" if text is None else printable(text)


def _answer(question: str, good: bool, yes: str, no: str, text: str) -> Answer:
    return Answer(question, yes if good else no, text, Tone.GOOD if good else Tone.CAREFUL)


def _title(before: str, word: str, after: str) -> str:
    return printable(f"{basename(before)} {word} {basename(after)}")
