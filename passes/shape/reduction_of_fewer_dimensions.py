"""Reduce a reshaped tensor in the fewest dimensions that keep its axes apart.

What it does: Where a tensor is reshaped, and perhaps transposed, before it is reduced, neighbouring
    axes that are reduced become one axis, and so do those that stay; the result is reshaped. A
    Transpose that leaves the order of what stays alone is left out.
Why engines need it: QNN has no tensor of more than five dimensions; einops pools patches with six.
Before:
    a = Reshape <[2, 3, 2, 2, 3, 2]> (x)                        # x: [2, 3, 4, 6]
    b = Transpose <perm = [0, 1, 2, 4, 3, 5]> (a)
    y = ReduceMax <axes = [4, 5], keepdims = 0> (b)
After:
    a = Reshape <[12, 2, 3, 2]> (x)
    b = ReduceMax <axes = [1, 3], keepdims = 0> (a)
    y = Reshape <[2, 3, 2, 3]> (b)
When it refuses: Sizes or axes are unknown, a size is 0, nothing is reduced; the tensor is not
    reshaped; the Transpose changes the order of what stays; the dimensions do not become fewer.
Accuracy: Exact for maxima and minima; sums and means of floats up to the order of their terms.
References: https://onnx.ai/onnx/operators/onnx__ReduceMax.html; measured with onnxruntime-qnn 2.7.0
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._runs import runs_of

_OPS = ("ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum")


@rewrite(
    _OPS, removes=tuple(f"rank:{op}.*" for op in _OPS), emits=(*_OPS, "Reshape"), claims="nan inf"
)
def reduction_of_fewer_dimensions(node: NodeView, build: Builder) -> Value:
    """Reduce runs of axes, see the module."""
    x, given, last = node.need(0), node.input(1), node.output(0)
    axes = node.attr("axes", ()) if given is None else build.need_const(given, "the axes")
    shape, ends = x.static_shape, None if last is None else last.static_shape
    if shape is None or ends is None or 0 in shape:
        raise Refuse("all sizes must be known and none of them 0")
    reduced = {int(axis) % len(shape) for axis in axes}
    if not reduced:
        raise Refuse("the axes must be given; none are")
    maker, order = x.producer, list(range(len(shape)))
    if maker is not None and maker.op == "Transpose":
        order = list(maker.attr("perm", ())) or order[::-1]
        maker = maker.need(0).producer
    if maker is None or maker.op != "Reshape":
        raise Refuse(f"{x.name} must come out of a Reshape; it does not")
    staying = [order[axis] for axis in range(len(shape)) if axis not in reduced]
    if staying != sorted(staying):
        raise Refuse("the Transpose must keep the order of what stays; it does not")
    kinds = {order[axis]: axis in reduced for axis in range(len(shape))}
    sizes = {order[axis]: shape[axis] for axis in range(len(shape))}
    places = range(len(shape))
    runs = runs_of([kinds[axis] for axis in places], [sizes[axis] for axis in places])
    if len(runs) >= len(shape) or not any(kind for kind, _ in runs):
        raise Refuse("neighbouring axes must be of one kind; none are")
    flat = build.Reshape(maker.need(0), np.array([size for _, size in runs], np.int64))
    along = [place for place, (kind, _) in enumerate(runs) if kind]
    made = build.node(node.op, flat, axes=along, keepdims=0)
    return build.Reshape(made, np.array(ends, np.int64))
