"""Fewer nodes: cut off after, cut off before, then leave out what is left out of the middle."""

from __future__ import annotations

from collections.abc import Sequence

from onnx import ModelProto

from graphfix.reduction.cutting import Whole
from graphfix.reduction.oracle import Oracle
from graphfix.reduction.search import first_place, shortened


def fewer_nodes(proto: ModelProto, oracle: Oracle) -> ModelProto:
    """Return the smallest part of a model that was found to fail.

    Two searches by halving make one failing node of a thousand in some twenty runs: the shortest
    beginning of the topological order, whose last node is needed then; of that, only what the
    last node is computed from, and of that what is at most so many nodes away from it. Where more
    than one node is needed the shortest end is looked for, and delta debugging does the rest.

    Args:
        proto: A model that fails.
        oracle: Asks the command.
    """
    search = _Search(Whole(proto, oracle.typist.types(proto)), oracle)
    kept = search.beginning(search.whole.scope.order)
    kept = search.leading_to_last(kept)
    kept = search.near_last(kept)
    kept = search.ending(kept)
    kept = shortened(kept, search.accepts)
    return search.model(kept)


class _Search:
    """Parts of one model."""

    def __init__(self, whole: Whole, oracle: Oracle) -> None:
        self.whole = whole
        self._oracle = oracle

    def model(self, kept: Sequence[int]) -> ModelProto:
        """Return the part of these nodes; the whole model for all of them."""
        if len(kept) < len(self.whole.scope.nodes):
            part = self.whole.part(kept)
            if part is not None and self._oracle.accepts(part):
                return part
        return self.whole.proto

    def accepts(self, kept: Sequence[int]) -> bool:
        return self._verdict(kept) is True

    def _verdict(self, kept: Sequence[int]) -> bool | None:
        return self._oracle.verdict(self.whole.part(kept)) if kept else None

    def beginning(self, order: Sequence[int]) -> list[int]:
        """Return the shortest beginning that fails."""
        end = first_place(0, len(order), lambda place: self._verdict(order[:place]))
        return list(order[:end])

    def leading_to_last(self, kept: list[int]) -> list[int]:
        """Return only the nodes that the last one is computed from, if those fail."""
        distances = self._distances(kept)
        near = [index for index in kept if index in distances]
        return near if len(near) < len(kept) and self.accepts(near) else kept

    def near_last(self, kept: list[int]) -> list[int]:
        """Return only the nodes that are at most so many steps before the last one."""
        distances = self._distances(kept)

        def within(steps: int) -> list[int]:
            return [i for i in kept if distances.get(i, len(kept)) < steps]

        farthest = max(distances.values(), default=0) + 1
        if len(within(farthest)) < len(kept):
            return kept
        steps = first_place(0, farthest, lambda place: self._verdict(within(place)))
        return within(steps)

    def ending(self, kept: list[int]) -> list[int]:
        """Return the shortest end that fails."""
        count = first_place(0, len(kept), lambda place: self._verdict(kept[-place:]))
        return kept[-count:]

    def _distances(self, kept: Sequence[int]) -> dict[int, int]:
        """Return how many steps before the last node each is that it is computed from."""
        there = set(kept)
        found: dict[int, int] = {}
        layer = [kept[-1]] if kept else []
        steps = 0
        while layer:
            found.update(dict.fromkeys(layer, steps))
            steps += 1
            makers = (
                self.whole.scope.makers[name][0]
                for index in layer
                for name in self.whole.read_by(index)
                if name in self.whole.scope.makers
            )
            layer = [i for i in dict.fromkeys(makers) if i in there and i not in found]
        return found
