"""What a token does not see in caches of a fixed length: masks before a Softmax."""

from __future__ import annotations

import numpy as np
from onnx import GraphProto, NodeProto, helper, numpy_helper

from graphfix.edits.caches.position import HIDDEN, Position
from graphfix.edits.caches.readings import Array, Readings
from graphfix.edits.caches.slicing import Unclear
from graphfix.ir.storage.weights import is_external
from graphfix.operators.table import MOVES_FIRST

# What a mask may go through on its way to the scores.
_PASSES = MOVES_FIRST | {"Add", "Cast"}


class Hiding:
    """The masks of a decoder.

    Attributes:
        masked: How many Softmaxes got a mask.
        unguarded: How many nodes are gone that give 0 where a Softmax is over nothing.
    """

    def __init__(self, graph: GraphProto, readings: Readings, at: Position) -> None:
        """Take a decoder; nothing is written yet."""
        self._read, self._at = readings, at
        self._makers = {name: node for node in graph.node for name in node.output}
        self._readers: dict[str, list[NodeProto]] = {}
        for node in graph.node:
            for name in node.input:
                self._readers.setdefault(name, []).append(node)
        scalars = (t for t in graph.initializer if set(t.dims) <= {1} and not is_external(t))
        self._scalars: dict[str, Array] = {t.name: numpy_helper.to_array(t) for t in scalars}
        self.masked = self.unguarded = 0

    def drop_guard(self, node: NodeProto) -> bool:
        """Write nothing but a Softmax for a Where of 0 where it is NaN, for it is over nothing.

        Each token sees itself now.

        Returns:
            False where the node is another one.
        """
        test, zero, shares = node.input
        tests, softmax = self._makers.get(test), self._makers.get(shares)
        if tests is None or softmax is None or list(tests.input) != [shares]:
            return False
        value = self._scalar(zero)
        if (tests.op_type, softmax.op_type) != ("IsNaN", "Softmax") or value is None or value.any():
            return False
        self._at.add("Identity", shares, output=node.output[0])
        self.unguarded += 1
        return True

    def limit(self, node: NodeProto) -> None:
        """Let a Where hide by a number what minus infinity hides: no row is hidden as a whole.

        Args:
            node: The copy that is written; changed where it is a mask before a Softmax alone.
        """
        if not all(self._is_of_softmax(reader) for reader in self._readers.get(node.output[0], ())):
            return
        for place in (1, 2):
            value = self._scalar(node.input[place])
            if value is not None and np.isneginf(value).all():
                node.input[place] = self._at.constant(np.full_like(value, HIDDEN))

    def mask(self, node: NodeProto) -> None:
        """Hide places that nothing was put at yet, before a Softmax over those of a cache.

        Args:
            node: The copy of it that is written.

        Raises:
            Unclear: It is over another axis, or its type is not known.
        """
        scores = node.input[0]
        rank, grown = self._read.rank(scores) or 0, self._read.grows(scores)
        axis = next((a.i for a in node.attribute if a.name == "axis"), -1)
        if not grown:
            return
        if grown != [rank - 1] or axis not in (-1, rank - 1):
            raise Unclear("is not over the last axis, which alone must grow")
        if self._read.as_size(self._read.sizes(scores, rank - 1)) != self._read.length:
            raise Unclear("is over more than the places of a cache")
        if rank < 2 or set(self._read.sizes(scores, rank - 2)) != {self._read.new}:
            raise Unclear("must have a row for each new token")
        kind = self._read.read[0].kinds.get(scores)
        if kind is None:
            raise Unclear("reads what is of no known type")
        lowest = self._at.constant(np.array(HIDDEN, helper.tensor_dtype_to_np_dtype(kind)))
        node.input[0] = self._at.add("Where", self._at.seen(), scores, lowest)
        self.masked += 1

    def _scalar(self, name: str) -> Array | None:
        found = self._scalars.get(name, self._read.read[0].values.get(name))
        return found if found is not None and found.size == 1 else None

    def _is_of_softmax(self, node: NodeProto) -> bool:
        if node.op_type == "Softmax":
            return True
        readers = self._readers.get(node.output[0], [])
        passes = node.op_type in _PASSES and bool(readers)
        return passes and all(self._is_of_softmax(reader) for reader in readers)
