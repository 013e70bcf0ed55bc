"""Following the rows of a tensor to the outputs, where each is computed from its own row alone."""

from collections.abc import Callable, Sequence
from math import prod

from msgspec import Struct, field
from onnx import TensorProto

from graphfix.authoring import ELEMENTWISE, Graph, NodeView, Refuse, Value, Variable, need_rank

ROWS = "rows"  # stands for the number of rows among sizes
Sizes = tuple["int | str | None", ...]
Fate = int | Sizes  # the axis of the rows, or numbers of which some are the number of rows

_ALONG = frozenset({"ArgMax", "ArgMin", "Softmax", "LogSoftmax", "TopK", "Split", "CumSum"})
_REDUCING = frozenset({"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd"})


class _Trail(Struct):
    """What became of the rows so far, by tensor."""

    graph: Graph
    fates: dict[int, Fate] = field(default_factory=dict[int, "Fate"])

    def of(self, value: Value | None) -> Fate | None:
        return None if value is None else self.fates.get(id(value.tensor))

    def axis(self, value: Value | None) -> int | None:
        fate = self.of(value)
        return fate if isinstance(fate, int) else None


def outputs_of_rows(node: NodeView) -> dict[Variable, int]:
    """Return the outputs of the model with a row for each that a node gives, and the axis of rows.

    Raises:
        Refuse: Something after the node mixes rows, counts them, or is not known to do neither.
    """
    graph, start = node.graph, node.output(0)
    if start is None:
        raise Refuse("something must use it; nothing does")
    if graph.parent is not None or graph.scope != "main":
        raise Refuse("it must be in the main graph; a body or a function has no declared rows")
    trail = _Trail(graph, {id(start.tensor): 0})
    for other in graph.nodes:
        if any(id(tensor) in trail.fates for tensor in other.inputs):
            _step(NodeView(other), trail)
        for tensor in other.outputs:
            if id(tensor) in trail.fates and any(u.graph is not graph for u in tensor.outputs):
                raise Refuse(f"{tensor.name} must be read in its own graph; a subgraph reads it")
    found: dict[Variable, int] = {}
    for tensor in graph.outputs:
        fate = trail.fates.get(id(tensor))
        if isinstance(fate, tuple):
            raise Refuse(f"outputs must not be computed from the number of rows; {tensor.name} is")
        if fate is not None and isinstance(tensor, Variable):
            found[tensor] = fate
    if not found:
        raise Refuse("an output must have its rows; none has")
    return found


def _step(node: NodeView, trail: _Trail) -> None:
    followed = [trail.of(value) for value in node.inputs]
    if any(isinstance(fate, tuple) for fate in followed) and node.op != "Reshape":
        result: Sequence[Fate] = [_of_sizes(node, trail)] if not node.domain else ()
    else:
        result = _of_rows(node, trail) if not node.domain else ()
    if not result:
        raise Refuse(f"what comes after it must treat each row alone; {node.op} is not known to")
    for value in node.outputs:
        if value is not None:
            trail.fates[id(value.tensor)] = result[0]


def _of_rows(node: NodeView, trail: _Trail) -> Sequence[Fate]:
    """Return what an operator makes of rows; nothing where that is not known."""
    if node.op in ELEMENTWISE:
        return _broadcast(node, trail)
    if node.op in _ALONG | _REDUCING:
        return _along(node, trail)
    handler = _HANDLERS.get(node.op)
    return handler(node, trail) if handler is not None else ()


def _axes(node: NodeView, place: int, rank: int) -> list[int]:
    """Return the axes of a node, from its attribute or an input; nothing where not known."""
    given = node.attr("axes")
    if given is None:
        value = node.input(place)
        array = value.array() if value is not None else None
        if array is None:
            raise Refuse(f"the axes of {node.op} after it must be known")
        given = array.reshape(-1).tolist()
    return [int(axis) % rank for axis in given]


def _broadcast(node: NodeView, trail: _Trail) -> Sequence[Fate]:
    """Elementwise: rows must meet rows, or one value for all of them."""
    places = {
        need_rank(v) - axis
        for v in node.inputs
        if v is not None and (axis := trail.axis(v)) is not None
    }
    if len(places) != 1:
        return ()
    (place,) = places
    for value in node.inputs:
        if value is None or trail.axis(value) is not None:
            continue
        if need_rank(value) >= place and value.dim(-place) != 1:
            return ()
    ranks = [need_rank(value) for value in node.inputs if value is not None]
    return (max(ranks) - place,)


def _along(node: NodeView, trail: _Trail) -> Sequence[Fate]:
    """Along other axes than that of the rows."""
    data = node.need(0)
    axis, rank = trail.axis(data), need_rank(data)
    if axis is None or any(trail.of(value) is not None for value in node.inputs[1:]):
        return ()
    if node.op in _REDUCING:
        axes = _axes(node, 1, rank)
    else:
        default = {"TopK": -1, "Softmax": -1, "LogSoftmax": -1}.get(node.op, 0)
        if node.op in ("Softmax", "LogSoftmax") and node.opset < 13:
            return ()
        if node.op == "CumSum":
            return ()
        axes = [int(node.attr("axis", default)) % rank]
    if axis in axes:
        return ()
    dropped = node.op in _REDUCING or node.op in ("ArgMax", "ArgMin")
    if dropped and not int(node.attr("keepdims", 1)):
        axis -= sum(other < axis for other in axes)
    return (axis,)


def _gather(node: NodeView, trail: _Trail) -> Sequence[Fate]:
    data, indices = node.need(0), node.need(1)
    along = int(node.attr("axis", 0)) % need_rank(data)
    rows, picked = trail.axis(data), trail.axis(indices)
    if picked is not None:
        return (along + picked,) if rows is None else ()
    if rows is None or rows == along:
        return ()
    return (rows if rows < along else rows - 1 + need_rank(indices),)


def _gather_nd(node: NodeView, trail: _Trail) -> Sequence[Fate]:
    data, indices = node.need(0), node.need(1)
    rows = trail.axis(indices)
    if trail.of(data) is not None or rows is None or int(node.attr("batch_dims", 0)):
        return ()
    return (rows,) if rows < need_rank(indices) - 1 else ()


def _squeeze(node: NodeView, trail: _Trail) -> Sequence[Fate]:
    data = node.need(0)
    axis = trail.axis(data)
    axes = _axes(node, 1, need_rank(data))
    if axis is None or axis in axes:
        return ()
    return (axis - sum(other < axis for other in axes),)


def _unsqueeze(node: NodeView, trail: _Trail) -> Sequence[Fate]:
    data = node.need(0)
    axis = trail.axis(data)
    if axis is None:
        return ()
    given = node.attr("axes")
    new = set(_axes(node, 1, need_rank(data) + len(given))) if given is not None else set[int]()
    if given is None:
        value = node.input(1)
        array = value.array() if value is not None else None
        if array is None:
            return ()
        rank = need_rank(data) + array.size
        new = {int(other) % rank for other in array.reshape(-1)}
    kept = [place for place in range(need_rank(data) + len(new)) if place not in new]
    return (kept[axis],)


def _transpose(node: NodeView, trail: _Trail) -> Sequence[Fate]:
    data = node.need(0)
    axis = trail.axis(data)
    order: list[int] = list(node.attr("perm") or range(need_rank(data) - 1, -1, -1))
    return () if axis is None else (order.index(axis),)


def _slice(node: NodeView, trail: _Trail) -> Sequence[Fate]:
    data = node.need(0)
    axis = trail.axis(data)
    if axis is None or any(trail.of(value) is not None for value in node.inputs[1:]):
        return ()
    if node.input(3) is None and not node.has("axes"):
        return ()
    return () if axis in _axes(node, 3, need_rank(data)) else (axis,)


def _concat(node: NodeView, trail: _Trail) -> Sequence[Fate]:
    axes = {trail.axis(value) for value in node.inputs}
    along = int(node.attr("axis", 0)) % need_rank(node.need(0))
    if len(axes) != 1 or None in axes or along in axes:
        return ()
    return [axis for axis in axes if axis is not None]


def _shape(node: NodeView, trail: _Trail) -> Sequence[Fate]:
    data = node.need(0)
    axis = trail.axis(data)
    if axis is None or node.has("start") or node.has("end") or data.shape is None:
        return ()
    sizes = [dim if isinstance(dim, int) else None for dim in data.shape]
    return (tuple(ROWS if place == axis else size for place, size in enumerate(sizes)),)


def _reshape(node: NodeView, trail: _Trail) -> Sequence[Fate]:
    """Rows stay rows where as many elements lie before and after them as did."""
    data = node.need(0)
    axis = trail.axis(data)
    if axis is None or data.shape is None:
        return ()
    wanted = _known_sizes(node.need(1), trail)
    if wanted is None:
        return ()
    inner = [dim for place, dim in enumerate(data.shape) if place != axis]
    if not all(isinstance(dim, int) for dim in inner):
        return ()
    numbers = [dim for dim in inner if isinstance(dim, int)]
    before, after = prod(numbers[:axis]), prod(numbers[axis:])
    sizes: list[int | str | None] = []
    for place, size in enumerate(wanted):
        copied = size == 0 and place < len(data.shape) and not int(node.attr("allowzero", 0))
        sizes.append((ROWS if place == axis else data.shape[place]) if copied else size)
    for place, size in enumerate(sizes):
        head = [dim for dim in sizes[:place] if isinstance(dim, int) and dim > 0]
        tail = [dim for dim in sizes[place + 1 :] if isinstance(dim, int) and dim > 0]
        if size not in (ROWS, -1) or len(head) != place or prod(head) != before:
            continue
        rest = len(sizes) - place - 1
        if len(tail) == rest and prod(tail) == after:
            return (place,)
        if size == ROWS and sizes[place + 1 :].count(-1) == 1 and len(tail) == rest - 1:
            return (place,)
    return ()


def _known_sizes(value: Value, trail: _Trail) -> Sizes | None:
    fate = trail.of(value)
    if fate is not None:
        return fate if isinstance(fate, tuple) else None
    array = value.array()
    return None if array is None else tuple(int(size) for size in array.reshape(-1))


def _of_sizes(node: NodeView, trail: _Trail) -> Fate:
    """Return what becomes of numbers of which one is the number of rows."""
    sizes = [_known_sizes(v, trail) for v in node.inputs if v is not None]
    first = sizes[0]
    wide = node.op != "Cast" or node.attr("to") in (TensorProto.INT32, TensorProto.INT64)
    if first is not None and wide and node.op in ("Cast", "Identity", "Squeeze", "Unsqueeze"):
        return first
    if node.op == "Concat" and all(size is not None for size in sizes):
        return tuple(entry for size in sizes if size is not None for entry in size)
    if node.op == "Gather" and first is not None and trail.of(node.input(1)) is None:
        indices = node.need(1).array()
        if indices is not None:
            return tuple(first[int(index)] for index in indices.reshape(-1))
    raise Refuse(f"what comes after it must not compute with the number of rows; {node.op} does")


_HANDLERS: dict[str, Callable[[NodeView, _Trail], Sequence[Fate]]] = {
    "Concat": _concat,
    "Gather": _gather,
    "GatherND": _gather_nd,
    "Reshape": _reshape,
    "Shape": _shape,
    "Slice": _slice,
    "Squeeze": _squeeze,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
}
