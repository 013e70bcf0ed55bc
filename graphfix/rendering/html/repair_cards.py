"""Repairs as cards: each site before and after, with its proof; and what was left alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from graphfix.pipeline.sweep import Applied
from graphfix.rendering.grouping import distinct, node_label
from graphfix.rendering.html.drawing import Picture, drawn
from graphfix.rendering.html.finding_cards import node_links
from graphfix.rendering.html.gauge import gauge
from graphfix.rendering.html.page import Card, Table
from graphfix.rendering.html.places import Places
from graphfix.rendering.html.sketch import Surroundings, sketches
from graphfix.rendering.style import count, printable
from graphfix.rendering.wording import Tone
from graphfix.report import (
    Accuracy,
    Certificate,
    InputSizes,
    NodeRef,
    Outcome,
    Status,
    Verdict,
)

_MOST_ALIKE = 40  # changes of one pass that no finding asked for and that have cards of their own
_TONES = {Verdict.EQUAL: Tone.GOOD, Verdict.MISMATCH: Tone.BAD}


def site_cards(
    sites: Iterable[Applied], places: Places, around: Surroundings, prefix: str, *, kept: bool
) -> tuple[Card, ...]:
    """Return a card for each changed place, in the order in which they were made.

    Args:
        sites: The places.
        places: Where nodes are on the map.
        around: What is next to them in the model as it came.
        prefix: What the ids of the cards begin with.
        kept: Whether they are part of the result, or were rolled back.
    """
    return tuple(
        _card(each, places, around, f"{prefix}{at}", kept) for at, each in enumerate(sites, 1)
    )


def tidy_cards(sites: Iterable[Applied], places: Places, around: Surroundings) -> tuple[Card, ...]:
    """Return the cards of changes that no finding asked for: those of a pass that made many in one.

    What is drawn of these is the first; each has its row.
    """
    groups: dict[tuple[str, ...], list[Applied]] = {}
    for each in sites:
        groups.setdefault(each.passes, []).append(each)
    cards: list[Card] = []
    for at, group in enumerate(groups.values(), 1):
        if len(group) <= _MOST_ALIKE:
            cards += site_cards(group, places, around, f"c{at}-", kept=True)
        else:
            cards.append(_many(group, places, around, f"c{at}"))
    return tuple(cards)


def _many(group: Sequence[Applied], places: Places, around: Surroundings, place: str) -> Card:
    first = _card(group[0], places, around, place, True)
    worst = [each.certificate for each in group if each.certificate is not None]
    unequal = [proof for proof in worst if proof.status is not Verdict.EQUAL]
    proved = f"{len(worst) - len(unequal)} of {len(group)} proved equal"
    rows = (
        (
            node_label(each.site.node),
            became(each.site.removed, each.site.added),
            proof_text(each.certificate),
        )
        for each in group
    )
    return replace(
        first,
        title=f"{', '.join(group[0].passes)}: {count(len(group), 'place')}",
        tone=Tone.GOOD if not unequal else Tone.CAREFUL,
        lines=(f"{proved}; the first of them is drawn.",),
        facts=(),
        gauge=None,
        links=node_links((each.site.node for each in group), places),
        table=Table(("node", "became", "proof"), tuple(rows)),
    )


def refusal_cards(outcomes: Iterable[Outcome], places: Places) -> tuple[Card, ...]:
    """Return a card for each pass and reason that left nodes alone."""
    undone = [o for o in outcomes if o.status in (Status.REFUSED, Status.FAILED)]
    return tuple(
        Card(
            f"o{at}",
            f"{outcome.pass_id}: {count(len(outcome.sites), 'node')}",
            (str(outcome.status),),
            Tone.BAD if outcome.status is Status.FAILED else Tone.CAREFUL,
            (printable(outcome.reason),) if outcome.reason else (),
            links=node_links((site.node for site in outcome.sites), places),
        )
        for at, outcome in enumerate(undone, 1)
    )


def _card(each: Applied, places: Places, around: Surroundings, place: str, kept: bool) -> Card:
    site, proof = each.site, each.certificate
    verdict = str(proof.status) if proof is not None else "nothing computed"
    pictures: tuple[tuple[str, Picture], ...] = ()
    if each.evidence is not None and (each.evidence.before or each.evidence.after):
        before, after = sketches(each.evidence, around)
        pictures = (("Before", drawn(before)), ("After", drawn(after)))
    tags = [*each.passes[:1], verdict]
    if site.accuracy is not Accuracy.EXACT:
        tags.append(str(site.accuracy))
    label = node_label(site.node) or printable(", ".join(site.node.outputs))
    whole = f"The whole file, by {each.passes[0] if each.passes else 'a pass'}"
    proved = proof is None or proof.status is Verdict.EQUAL
    tone = _TONES.get(proof.status, Tone.CAREFUL) if proof is not None else Tone.GOOD
    facts = (
        ("with", ", ".join(each.passes[1:])),
        ("became", became(site.removed, site.added)),
        ("proof", proof_text(proof)),
    )
    return Card(
        place,
        f"{site.node.op or 'Change'} {label}" if label else whole,
        tuple(tags if kept else [*tags, "rolled back"]),
        tone,
        (printable(site.note),) if site.note else (),
        facts=tuple((name, text) for name, text in facts if text),
        links=node_links((site.node,), places),
        pictures=pictures,
        gauge=gauge(proof, wrong=not proved) if proof is not None else None,
    )


def became(removed: Iterable[NodeRef], added: Iterable[NodeRef]) -> str:
    """Return which operators gave way to which; empty where none did."""
    old, new = _ops(removed), _ops(added)
    return printable(f"{old or 'nothing'} → {new or 'nothing'}") if old or new else ""


def _ops(nodes: Iterable[NodeRef]) -> str:
    many = Counter(node.op for node in nodes)
    return ", ".join(op if number == 1 else f"{number} {op}" for op, number in many.items())


def proof_text(proof: Certificate | None) -> str:
    """Return a certificate in one sentence."""
    if proof is None:
        return "nothing is computed here, so that there is nothing to prove"
    ways = [count(proof.samples, "sample")] if proof.samples else []
    ways += [f"{proof.own} of them what the model itself computed there"] if proof.own else []
    text = f"{proof.status}" + (f" on {', '.join(ways)}" if ways else "")
    text += f", with {'; '.join(map(_shapes, proof.sizes))}" if proof.sizes else ""
    return printable(f"{text}: {proof.reason}" if proof.reason else text)


def _shapes(sizes: InputSizes) -> str:
    return f"{sizes.name} of {', '.join('x'.join(map(str, shape)) for shape in sizes.shapes)}"


def passes_of(sites: Iterable[Applied]) -> tuple[str, ...]:
    """Return the passes that made changed places, in their order."""
    return distinct(name for each in sites for name in each.passes)
