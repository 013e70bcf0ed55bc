"""How nodes are coloured on the map, from the cards that tell of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from graphfix.rendering.html.overview import Mark
from graphfix.rendering.html.page import Card


def marked(cards: Mapping[str, Iterable[Card]]) -> dict[int, Mark]:
    """Return how each node is coloured, and the card that tells of it.

    Args:
        cards: By kind of mark; of several for one node the last counts.
    """
    return {
        int(link.place[1:]): Mark(kind, card.place)
        for kind, group in cards.items()
        for card in group
        for link in card.links
        if link.place
    }
