"""Ranks and sizes that ONNX's shape inference leaves open, and that follow all the same."""

from __future__ import annotations

from graphfix.ir.graph import Node, Shape, Variable
from graphfix.ir.protos import normal_domain
from graphfix.ir.views import NodeView

_SHAPE_INPUT = {"ConstantOfShape": 0, "Reshape": 1}
_SAME_RANK = frozenset({"Conv", "ConvTranspose"})  # where the kernel has no known sizes
_AXES_OF_SLICE, _FIRST_STATE = 3, 2


def learn_sizes(node: Node) -> bool:
    """Take what is open of the outputs of a node; say whether that was news."""
    if normal_domain(node.domain):
        return False
    if node.op in _SHAPE_INPUT:
        return _learn_rank(node, _SHAPE_INPUT[node.op])
    if node.op in _SAME_RANK:
        return _keep_rank(node)
    if node.op == "Slice":
        return _keep_other_axes(node)
    if node.op == "TopK":
        return _take_k(node)
    return node.op == "Loop" and _keep_states(node)


def _learn_rank(node: Node, place: int) -> bool:
    """Take the rank of what Reshape and ConstantOfShape give from the length of the shape.

    ONNX's own inference wants the entries of the shape; their number is enough for the rank.
    """
    if len(node.inputs) <= place:
        return False
    output, shape = node.outputs[0], node.inputs[place].shape
    if shape is None or len(shape) != 1 or not isinstance(shape[0], int):
        return False
    return _put(output, (None,) * shape[0])


def _keep_rank(node: Node) -> bool:
    shape = node.inputs[0].shape if node.inputs else None
    return shape is not None and _put(node.outputs[0], (None,) * len(shape))


def _put(output: object, shape: Shape) -> bool:
    if not isinstance(output, Variable) or output.shape is not None or not output.elem_type:
        return False
    output.shape = shape
    return True


def _keep_other_axes(node: Node) -> bool:
    """Take the sizes of the axes that a Slice leaves alone, where only its ends are computed.

    ONNX's own inference gives the rank alone then.
    """
    view = NodeView(node)
    data, output, axes = view.input(0), node.outputs[0], view.input(_AXES_OF_SLICE)
    if data is None or data.shape is None or axes is None or not axes.is_constant:
        return False
    if not isinstance(output, Variable) or output.shape is None:
        return False
    known = axes.array()
    if known is None or len(output.shape) != len(data.shape):
        return False
    cut = {int(axis) % len(data.shape) for axis in known.reshape(-1)} if data.shape else set[int]()
    return _complete(
        output, tuple(None if axis in cut else size for axis, size in enumerate(data.shape))
    )


def _take_k(node: Node) -> bool:
    """Take a constant K for the size along the axis, and the other sizes from the data.

    ONNX's own inference leaves all of them open where the size of the data along the axis is.
    """
    view = NodeView(node)
    data, k = view.input(0), view.input(1)
    if data is None or not data.shape or k is None or not k.is_constant:
        return False
    known, axis = k.array(), int(view.attr("axis", -1))
    if known is None or known.size != 1 or not -len(data.shape) <= axis < len(data.shape):
        return False
    sizes: list[int | str | None] = list(data.shape)
    sizes[axis] = int(known.reshape(-1)[0])
    news = False
    for output in node.outputs:
        if isinstance(output, Variable) and output.name:
            news = _put(output, tuple(sizes)) or _complete(output, tuple(sizes)) or news
    return news


def _complete(output: Variable, sizes: Shape) -> bool:
    """Take the sizes that are known where the output has none, and numbers in the place of names.

    Returns:
        Whether that was news.
    """
    if output.shape is None or len(output.shape) != len(sizes):
        return False
    merged = tuple(
        there if isinstance(there, int) or (there and not isinstance(size, int)) else size
        for there, size in zip(output.shape, sizes, strict=True)
    )
    news = merged != output.shape
    if news:
        output.shape = merged
    return news


def _keep_states(node: Node) -> bool:
    """Take the shape of what a Loop carries, where each step gives what it is given.

    ONNX's own inference gives the type alone: a step may change the shape.
    """
    body = next((body for _, body in node.graphs()), None)
    if body is None:
        return False
    news = False
    for first, given, made, output in zip(
        node.inputs[_FIRST_STATE:], body.inputs[_FIRST_STATE:], body.outputs[1:], node.outputs,
        strict=False,
    ):  # fmt: skip
        shapes = [first.shape, given.shape, made.shape]
        known = [shape for shape in shapes if shape is not None]
        if len(known) != len(shapes) or len({len(shape) for shape in known}) != 1:
            continue
        sizes = zip(*known, strict=True)
        kept = tuple(each[0] if len(set(each)) == 1 else None for each in sizes)
        news = _put(output, kept) or news
    return news
