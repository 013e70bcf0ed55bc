"""Transpose without the axes of size 1 that are put in before and taken out behind.

What it does: Where the axes that an Unsqueeze puts in are those that a Squeeze takes out of what a
    Transpose makes of them, the others are transposed alone.
Why engines need it: ncnn has tensors of four axes beside the batch, and the exporter of PyTorch
    takes the queries, keys and values of nn.MultiheadAttention apart with five.
Before:
    u = Unsqueeze <axes = [0]> (x)                # x: float[5,2,3,8]
    t = Transpose <perm = [3, 1, 2, 0, 4]> (u)
    y = Squeeze <axes = [3]> (t)
After: y = Transpose <perm = [2, 0, 1, 3]> (x)
When it refuses: The axes are computed or left out, others go than came, the order is not written
    down, a rank is unknown, or something else reads what lies between.
Accuracy: Exact: the same numbers in the same order.
References: https://onnx.ai/onnx/operators/onnx__Transpose.html; torch/nn/functional.py,
    _in_projection_packed
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, axes_of, need_rank, rewrite

_REMOVES = "rank:Unsqueeze.* rank:Transpose.* rank:Squeeze.*"


@rewrite("Squeeze", removes=_REMOVES, emits="Transpose", claims="nan inf")
def transpose_between_unsqueeze_and_squeeze(node: NodeView, build: Builder) -> Value:
    """Transpose the other axes alone, see the module."""
    turn = _maker(node, "Transpose")
    wide = _maker(turn, "Unsqueeze")
    rank = need_rank(turn.need(0))
    perm = [int(axis) for axis in turn.attr("perm", ())]
    if sorted(perm) != list(range(rank)):
        raise Refuse("the order of the Transpose must be written down; it is not")
    came, gone = _axes(wide, rank, build), {perm[axis] for axis in _axes(node, rank, build)}
    if came != gone:
        raise Refuse(f"the axes that came must go; {sorted(came)} came and {sorted(gone)} go")
    left = sorted(set(perm) - came)
    return build.Transpose(wide.need(0), perm=[left.index(axis) for axis in perm if axis in left])


def _maker(node: NodeView, op: str) -> NodeView:
    """Return the node that computes the first input for this node alone."""
    value = node.need(0)
    maker = value.producer
    if maker is None or maker.op != op or maker.domain:
        raise Refuse(f"what comes in must come out of {op}; it does not")
    if len(value.consumers) != 1 or value.is_graph_output:
        raise Refuse(f"what lies between must have one reader; {value.name} has others")
    return maker


def _axes(node: NodeView, rank: int, build: Builder) -> set[int]:
    """Return the axes of a Squeeze or Unsqueeze, counted from the front of the wider tensor."""
    axes = node.attr("axes") or axes_of(node.input(1), "the axes", build)
    if not axes:
        raise Refuse(f"the axes of the {node.op} must be written down; they are not")
    return {int(axis) % rank for axis in axes}
