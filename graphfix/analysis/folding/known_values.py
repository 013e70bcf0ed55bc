"""What is known of each tensor without running the model, in one walk, and sizes that follow.

Sizes follow from shapes, pads or bounds which the model computes from what is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from graphfix.analysis.folding import numbers, partial
from graphfix.analysis.inference import infer_node
from graphfix.ir.graph import Constant, Graph, Node, Tensor
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView, Refuse, Value
from graphfix.operators.table import SIZES

Array = np.ndarray[Any, Any]
MAX_PARTIAL = 64
MAX_HELD = 1 << 27
_KINDS = "biufV"  # V: bfloat16, float8 and their like; strings are left to the engines


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
        self._held = 0

    def learn(self, view: NodeView) -> tuple[Array | None, ...]:
        """Work out the outputs of one node; None for what is not known in full."""
        node = view.node
        if node.op in ("Shape", "Size"):
            work = self._shape
        elif node.op in numbers.FUNCTIONS:
            work = self._evaluate
        else:
            return ()
        if view.domain:
            return ()
        try:
            results = work(view)
            if results is None:
                return ()
            outputs = zip(node.outputs, results, strict=False)
            return tuple(self._keep(tensor, value) for tensor, value in outputs)
        except (Refuse, ValueError, IndexError, OverflowError, TypeError):
            return ()  # a malformed node is the checker's to complain of

    def take(self, tensor: Tensor, value: Array) -> None:
        """Remember a value that someone else worked out."""
        self._keep(tensor, value)

    def full(self, value: Value | None) -> Array | None:
        """Return the value of a tensor that is known in full, else None."""
        return None if value is None else self._known(value.tensor)

    def part(self, value: Value | None) -> partial.Partial | None:
        """Return what is known of a shape vector, in full or in part; else None."""
        if value is None:
            return None
        known = self._partial.get(id(value.tensor))
        if known is not None:
            return known
        array = self._known(value.tensor)
        if array is None or array.dtype.kind not in "biu" or array.size > MAX_PARTIAL:
            return None
        boxed = np.empty(array.shape, dtype=object)
        for index in np.ndindex(array.shape):
            boxed[index] = int(array[index])
        return boxed

    def _known(self, tensor: Tensor) -> Array | None:
        known = self._full.get(id(tensor))
        if known is not None:
            return known
        if isinstance(tensor, Constant):
            if tensor.overridable or tensor.weights.nbytes > self.limit:
                return None
        elif not tensor.inputs or tensor.inputs[0].op != "Constant":
            return None
        array = Value(tensor).array()
        if array is None or array.dtype.kind not in _KINDS:
            return None
        if array.nbytes <= 4096:
            self._full[id(tensor)] = array
            self._alive.append(tensor)
        return array

    def _keep(self, tensor: Tensor, value: Array) -> Array | None:
        if value.dtype == object:
            if not partial.is_complete(value):
                self._alive.append(tensor)
                self._partial[id(tensor)] = value
                return None
            value = partial.integers(value)
            if tensor.elem_type and tensor.dtype is not None:
                value = value.astype(tensor.dtype)
        if self._held + value.nbytes > MAX_HELD:
            return None
        self._held += value.nbytes
        self._alive.append(tensor)
        self._full[id(tensor)] = value
        return value

    def _shape(self, view: NodeView) -> tuple[Array, ...] | None:
        source = view.node.inputs[0]
        shape = source.shape
        if shape is None:
            return None
        if view.op == "Size":
            sizes = [dim for dim in shape if isinstance(dim, int)]
            if len(sizes) != len(shape):
                return None
            return (np.array(int(np.prod(sizes, dtype=np.int64)), dtype=np.int64),)
        rank = len(shape)
        start, end = int(view.attr("start", 0)), int(view.attr("end", rank))
        low = min(max(start + rank if start < 0 else start, 0), rank)
        high = min(max(end + rank if end < 0 else end, 0), rank)
        part = shape[low:high]
        if any(isinstance(dim, str) for dim in part) and _repeats(view.graph):
            # A symbol in the body of a loop may stand for another size in each iteration.
            part = tuple(dim if isinstance(dim, int) else None for dim in part)
        return (partial.as_partial(part),)

    def _evaluate(self, view: NodeView) -> tuple[Array, ...] | None:
        node = view.node
        operands: list[Array | None] = []
        for tensor in node.inputs:
            operand = self._known(tensor) if tensor.name else None
            if operand is None and tensor.name:
                break
            operands.append(operand)
        else:
            return numbers.FUNCTIONS[node.op](view, operands)
        inexact = partial.FUNCTIONS.get(node.op)
        if inexact is None or not _whole(node.outputs):
            return None
        parts = [self.part(value) for value in view.inputs]
        if all(part is None for part in parts):
            return None
        return inexact(view, parts)


def _repeats(graph: Graph) -> bool:
    """Say whether the nodes of a graph run several times in one run of the model."""
    inner = graph
    while inner.parent is not None:
        if inner.parent.op in ("Loop", "Scan", "SequenceMap"):
            return True
        inner = inner.parent.graph
    return False


def _whole(outputs: Sequence[Tensor]) -> bool:
    """Say whether a node gives integers or booleans, the only ones that are known in part."""
    return bool(outputs) and outputs[0].dtype is not None and outputs[0].dtype.kind in "biu"


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


_LIMIT = 1 << 16


def infer_computed_sizes(model: Model) -> bool:
    """Fill in sizes that shape inference did not find for want of a computed value.

    Inference follows the arithmetic on vectors alone; exporters compute pads as matrices. Every
    value comes from `Knowledge`, so nothing is filled in that is not known.

    Returns:
        Whether there was anything to fill in.
    """
    news: set[int] = set()
    if any(_has_unknown_sizes(node) for graph in model.graphs() for node in graph.nodes):
        knowledge = Knowledge(_LIMIT)
        for root in model.roots():
            learned: set[int] = set()
            _walk_sizes(root, knowledge, learned)
            news |= learned
    return bool(news)


def _has_unknown_sizes(node: Node) -> bool:
    """Say whether a node takes sizes that are computed, and gives a tensor of unknown sizes."""
    wanted = SIZES.get(node.op)
    if wanted is None or node.domain:
        return False
    return any(map(_open, node.outputs)) and any(
        maker.op != "Constant" for tensor in _taken(node, wanted) for maker in tensor.inputs
    )


def _taken(node: Node, wanted: tuple[int, ...]) -> Iterator[Tensor]:
    return (node.inputs[i] for i in wanted if i < len(node.inputs))


def _open(tensor: Tensor) -> bool:
    return tensor.shape is None or not all(isinstance(size, int) for size in tensor.shape)


def _walk_sizes(graph: Graph, knowledge: Knowledge, news: set[int]) -> None:
    for node in graph.nodes:
        subgraphs = [body for _, body in node.graphs()]
        for body in subgraphs:
            _walk_sizes(body, knowledge, news)
        if not subgraphs and (
            _has_unknown_sizes(node) or any(id(tensor) in news for tensor in node.inputs)
        ):
            before = [tensor.shape for tensor in node.outputs]
            infer_node(node, lambda tensor: knowledge.full(Value(tensor)))
            news.update(
                id(tensor)
                for tensor, shape in zip(node.outputs, before, strict=True)
                if tensor.shape != shape
            )
        knowledge.learn(NodeView(node))
