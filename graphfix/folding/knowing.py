"""What is known of each tensor of a model without running it, in one walk over the nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import NodeView, Value
from graphfix.folding import numbers, partial
from graphfix.graph import Constant, Graph, Tensor
from graphfix.model import Model

Array = np.ndarray[Any, Any]
MAX_PARTIAL = 64


class Knowledge:
    """Values known in full, and shape vectors known in part.

    Attributes:
        limit: Constants above this many bytes are not looked at.
    """

    def __init__(self, limit: int) -> None:
        """Know nothing yet."""
        self.limit = limit
        self._full: dict[int, Array] = {}
        self._partial: dict[int, partial.Partial] = {}
        self._alive: list[Tensor] = []

    def learn(self, view: NodeView) -> tuple[Array | None, ...]:
        """Work out the outputs of one node; None for what is not known in full."""
        nothing: tuple[Array | None, ...] = (None,) * len(view.node.outputs)
        if view.domain or view.op == "Constant":
            return nothing
        try:
            results = self._shape(view) or self._evaluate(view)
            if results is None:
                return nothing
            outputs = zip(view.node.outputs, results, strict=False)
            return tuple(self._keep(tensor, value) for tensor, value in outputs)
        except (Refuse, ValueError, IndexError, OverflowError, TypeError):
            return nothing  # a malformed node is the checker's to complain of

    def full(self, value: Value | None) -> Array | None:
        """Return the value of a tensor that is known in full, else None."""
        if value is None:
            return None
        known = self._full.get(id(value.tensor))
        if known is not None:
            return known
        if not value.is_constant or self._bytes(value) > self.limit:
            return None
        array = value.array()
        if array is not None and array.nbytes <= 4096:
            self._full[id(value.tensor)] = array
            self._alive.append(value.tensor)
        return array

    def part(self, value: Value | None) -> partial.Partial | None:
        """Return what is known of a shape vector, in full or in part; else None."""
        if value is None:
            return None
        known = self._partial.get(id(value.tensor))
        if known is not None:
            return known
        array = self.full(value)
        if array is None or array.dtype.kind not in "iu" or array.size > MAX_PARTIAL:
            return None
        boxed = np.empty(array.shape, dtype=object)
        for index in np.ndindex(array.shape):
            boxed[index] = int(array[index])
        return boxed

    def _bytes(self, value: Value) -> int:
        tensor = value.tensor
        return tensor.weights.nbytes if isinstance(tensor, Constant) else 0

    def _keep(self, tensor: Tensor, value: Array) -> Array | None:
        self._alive.append(tensor)
        if value.dtype == object:
            if not partial.is_complete(value):
                self._partial[id(tensor)] = value
                return None
            value = partial.integers(value)
            if tensor.elem_type and tensor.dtype is not None:
                value = value.astype(tensor.dtype)
        self._full[id(tensor)] = value
        return value

    def _shape(self, view: NodeView) -> tuple[Array, ...] | None:
        if view.op not in ("Shape", "Size"):
            return None
        source = view.input(0)
        shape = source.shape if source is not None else None
        if shape is None:
            return None
        if view.op == "Size":
            if not all(isinstance(d, int) for d in shape):
                return None
            return (np.array(int(np.prod(shape, dtype=np.int64)), dtype=np.int64),)
        start, end = view.attr("start", 0), view.attr("end", len(shape))
        rank = len(shape)
        low = min(max(start + rank if start < 0 else start, 0), rank)
        high = min(max(end + rank if end < 0 else end, 0), rank)
        return (partial.as_partial(shape[low:high]),)

    def _evaluate(self, view: NodeView) -> tuple[Array, ...] | None:
        function = numbers.FUNCTIONS.get(view.op)
        if function is None:
            return None
        inputs = view.inputs
        operands = [self.full(value) for value in inputs]
        if all(o is not None for o, v in zip(operands, inputs, strict=True) if v is not None):
            return function(view, operands)
        inexact = partial.FUNCTIONS.get(view.op)
        if inexact is None or not self._integer(view):
            return None
        parts = [self.part(value) for value in inputs]
        if all(p is None for p in parts):
            return None
        return inexact(view, parts)

    def _integer(self, view: NodeView) -> bool:
        output = view.output(0)
        return output is not None and output.dtype is not None and output.dtype.kind in "iu"


def know(model: Model, limit: int = 1 << 16) -> Knowledge:
    """Walk every scope once and return what is known."""
    knowledge = Knowledge(limit)
    for root in model.roots():
        _walk(root, knowledge)
    return knowledge


def _walk(graph: Graph, knowledge: Knowledge) -> None:
    for node in graph.nodes:
        for _, body in node.graphs():
            _walk(body, knowledge)
        knowledge.learn(NodeView(node))
