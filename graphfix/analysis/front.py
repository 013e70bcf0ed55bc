"""The front of a model: what comes before nodes that are left, such as the choice of a detector.

It ends at the last tensor that each way from an input to one of these nodes leads through.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from math import prod

from msgspec import Struct

from graphfix.errors import InvalidModel
from graphfix.ir.graph import Constant, Graph, Node, Shape, Tensor, Variable
from graphfix.ir.importing import sorted_nodes, tensors_read
from graphfix.ir.storage.weights import type_name
from graphfix.operators.table import READS_SHAPE
from graphfix.report import NodeRef

_AFTER = 0.1  # of the weights at most come after it
_FEW = 1000  # floats of thresholds and the like
_BOX = 4


def front_of(
    graph: Graph, left: Sequence[NodeRef], names: Container[str], stored: Container[str]
) -> tuple[str, ...] | None:
    """Return where a graph is cut in two, so that the front has none of some nodes.

    Args:
        graph: The main graph.
        left: The nodes; each is of the graph, or of a body in it.
        names: A tensor is cut at only if its name is one of these.
        stored: The weights of the file; what passes have computed or made up is none.

    Returns:
        A tensor of floats and the outputs that do not depend on these nodes; None where no such
        tensor is, or where much of the weights is after it.
    """
    try:
        order = sorted_nodes(graph)
    except InvalidModel:
        return None
    outputs = {name for ref in left for name in ref.outputs if name}
    stuck = [node for node in order if not outputs.isdisjoint(_made(node))]
    if not stuck or not outputs <= {name for node in stuck for name in _made(node)}:
        return None
    ways = _Ways(graph, order)
    cut = ways.common(tensor for node in stuck for tensor in tensors_read(node))
    after = _after(order, stuck)
    ends = [t.name for t in graph.outputs if isinstance(t, Variable) and id(t) not in after]
    second: set[int] = set()
    while cut is not None:
        if cut.inputs and _is_float(cut) and cut.name in names:
            second = {id(node) for node in order} - _needed(graph, [cut.name, *ends])
            if _reads_only(order, second, {cut.name, *ends}):
                break
        cut = ways.before(cut)
    if cut is None:
        return None
    weights = _weights((node for node in order if id(node) in second), stored)
    if weights > _AFTER * _weights(order, stored) or not set(ends) <= ways.computed:
        return None
    return tuple(dict.fromkeys((cut.name, *ends)))


class Head(Struct, frozen=True):
    """Where the choice among boxes begins.

    Attributes:
        tensors: What all of it is computed from: one tensor, or boxes and scores.
        ends: The outputs that do not depend on it.
        after: The nodes that come after.
    """

    tensors: tuple[str, ...]
    ends: tuple[str, ...]
    after: tuple[Node, ...]


def head_of(
    graph: Graph,
    chosen: Sequence[Node],
    sizes: Mapping[str, tuple[int | str, ...]],
    stored: Container[str],
) -> Head | None:
    """Return the head of a detector: what nodes that choose among its boxes are computed from.

    Sizes of tensors are no way to a node here: only numbers are.

    Args:
        graph: The main graph.
        chosen: The nodes that suppress boxes.
        sizes: The shapes of tensors of floats, by name, where they are known.
        stored: The weights of the file.

    Returns:
        None where no tensor, or pair of boxes and scores, is before all of them, where an input is
        read, or where much of the weights comes after.
    """
    order = sorted_nodes(graph)
    early = _needed(graph, [t.name for node in chosen for t in tensors_read(node)])
    choosing = [
        node
        for node in order
        if node in chosen or (id(node) in early and node.op in ("Compress", "NonZero", "TopK"))
    ]
    late = _after(order, choosing)
    ways = _Ways(graph, order, sizes=False)
    after = [node for node in order if any(id(t) in late for t in node.outputs)]
    read = {id(t): t for node in after for t in tensors_read(node) if id(t) not in late}
    read = {key: t for key, t in read.items() if ways.has(t)}
    if not read or any(t in graph.inputs for t in read.values()):
        return None
    boxes = [t for t in read.values() if sizes.get(t.name, ())[-1:] == (_BOX,)]
    scores = [t for t in read.values() if t not in boxes]
    for groups in ([list(read.values())], [boxes, scores]):
        tensors = [ways.head(group, sizes) for group in groups]
        names = tuple(tensor.name for tensor in tensors if tensor is not None)
        ends = tuple(t.name for t in graph.outputs if isinstance(t, Variable) and id(t) not in late)
        kept = _needed(graph, [*names, *ends])
        gone = [node for node in order if id(node) not in kept]
        most = max(_FEW, _AFTER * _weights(order, stored))
        if len(names) == len(groups) and _weights(gone, stored) <= most:
            return Head(names, tuple(e for e in ends if e not in names), tuple(gone))
    return None


class _Ways:
    """For each computed tensor the last tensor that all ways to it lead through.

    Where sizes do not count what is computed from shapes has no way to it.
    """

    def __init__(self, graph: Graph, order: Iterable[Node], *, sizes: bool = True) -> None:
        self.computed = {tensor.name for node in order for tensor in node.outputs}
        self._depth: dict[int, int] = {}
        self._before: dict[int, Tensor | None] = {}
        for tensor in graph.inputs:
            self._put(tensor, None)
        for node in order:
            if not sizes and node.op in READS_SHAPE:
                continue
            read = tensors_read(node)
            last = self.common(read)
            if any(id(tensor) in self._depth for tensor in read):
                for tensor in node.outputs:
                    self._put(tensor, last)

    def _put(self, tensor: Tensor, last: Tensor | None) -> None:
        self._before[id(tensor)] = last
        self._depth[id(tensor)] = 0 if last is None else self._depth[id(last)] + 1

    def has(self, tensor: Tensor) -> bool:
        """Say whether a tensor depends on an input."""
        return id(tensor) in self._depth

    def head(
        self, group: Iterable[Tensor], sizes: Mapping[str, tuple[int | str, ...]]
    ) -> Tensor | None:
        """Return the last tensor before some that may be a head: floats in rows of columns."""
        found = self.common(group)
        while found is not None and not (found.inputs and len(sizes.get(found.name, ())) in (2, 3)):
            found = self.before(found)
        return found

    def before(self, tensor: Tensor) -> Tensor | None:
        """Return the last tensor before one."""
        return self._before[id(tensor)]

    def common(self, tensors: Iterable[Tensor]) -> Tensor | None:
        """Return the last tensor that all ways to some lead through; None where there is none."""
        found: Tensor | None = None
        for number, tensor in enumerate(t for t in tensors if id(t) in self._depth):
            found = tensor if number == 0 else self._met(found, tensor)
            if found is None:
                return None
        return found

    def _met(self, one: Tensor | None, two: Tensor | None) -> Tensor | None:
        while one is not two:
            if one is None or two is None:
                return None
            if self._depth[id(one)] < self._depth[id(two)]:
                two = self.before(two)
            else:
                one = self.before(one)
        return one


def _made(node: Node) -> Iterator[str]:
    """Yield the names that a node and its subgraphs compute."""
    yield from (tensor.name for tensor in node.outputs if tensor.name)
    for _, body in node.graphs():
        for inner in body.walk():
            for other in inner.nodes:
                yield from (tensor.name for tensor in other.outputs if tensor.name)


def _after(order: Iterable[Node], stuck: Sequence[Node]) -> set[int]:
    """Return the tensors that depend on some nodes."""
    found = {id(tensor) for node in stuck for tensor in node.outputs}
    for node in order:
        if any(id(tensor) in found for tensor in tensors_read(node)):
            found.update(map(id, node.outputs))
    return found


def _needed(graph: Graph, names: Iterable[str]) -> set[int]:
    """Return the nodes that compute some tensors."""
    wanted = set(names)
    pending = [node for node in graph.nodes if any(t.name in wanted for t in node.outputs)]
    found: set[int] = set()
    while pending:
        node = pending.pop()
        if id(node) not in found:
            found.add(id(node))
            pending += [
                maker for t in tensors_read(node) for maker in t.inputs if maker.graph is graph
            ]
    return found


def _reads_only(order: Iterable[Node], second: Container[int], names: Container[str]) -> bool:
    """Say whether some nodes read of what the others compute only what has one of some names."""
    first = {id(t) for node in order if id(node) not in second for t in node.outputs}
    return all(
        tensor.name in names or id(tensor) not in first
        for node in order
        if id(node) in second
        for tensor in tensors_read(node)
    )


def _weights(nodes: Iterable[Node], stored: Container[str]) -> int:
    """Return how many floats of the weights some nodes read."""
    read = {id(t): t for node in nodes for t in tensors_read(node) if isinstance(t, Constant)}
    return sum(_elements(t.shape) for t in read.values() if _is_float(t) and t.name in stored)


def _elements(shape: Shape | None) -> int:
    return prod(size for size in shape or () if isinstance(size, int))


def _is_float(tensor: Tensor) -> bool:
    return type_name(tensor.elem_type) in ("float32", "float16", "float64", "bfloat16")
