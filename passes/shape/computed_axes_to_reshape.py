"""Squeeze and Unsqueeze axes that are computed at run time by a Reshape.

What it does: Reshapes to the sizes of the result where no more than one of them is unknown.
    Elsewhere the shape is computed: Squeeze keeps the sizes of the axes that are not named,
    Unsqueeze puts a 1 where one is named and the sizes of the input, in their order, into the other
    places.
Why engines need it: TensorRT wants the axes as an initializer.
Before: y = Unsqueeze (x, axes)                    # x: [N, 4], axes: [1], y: [?, ?, ?]
After: y = Reshape (x, Concat (Where (axes has 0, 1, size 0), ...))
When it refuses: The axes are a constant or left out; a rank, or the number of the axes, is unknown.
Accuracy: Exact: nothing is computed on the elements.
References: https://onnx.ai/onnx/operators/onnx__Squeeze.html, onnx__Unsqueeze.html
"""

import numpy as np

from graphfix.authoring import (
    Builder,
    NodeView,
    Refuse,
    Value,
    among,
    late_from_front,
    need_rank,
    reshaped,
    rewrite,
    without_axes,
)


@rewrite(
    ("Squeeze", "Unsqueeze"),
    removes=tuple(
        f"{what}:{op}.{how}"
        for op in ("Squeeze", "Unsqueeze")
        for what, how in (("const", "axes"), ("form", "axes-input"))
    ),
    emits=(
        *("Add", "Cast", "Concat", "Equal", "Expand", "Gather", "Less", "NonZero", "Not"),
        *("ReduceSum", "Reshape", "Shape", "Sub", "Where"),
    ),
    since=13,
    claims="nan inf",
)
def computed_axes_to_reshape(node: NodeView, build: Builder) -> Value:
    """Reshape, see the module."""
    x, axes, y = node.need(0), node.input(1), node.output(0)
    if axes is None or build.const(axes) is not None:
        raise Refuse("the axes must be computed at run time; they are known or left out")
    sizes = None if y is None or y.shape is None else list(y.shape)
    if (
        sizes is not None
        and sum(not isinstance(size, int) for size in sizes) < 2
        and 0 not in sizes
    ):
        return build.Reshape(x, [size if isinstance(size, int) else -1 for size in sizes])
    rank = need_rank(x)
    if node.op == "Squeeze":
        return without_axes(x, among(late_from_front(axes, rank, build), rank, build), build)
    count = axes.dim(0)
    if not isinstance(count, int):
        raise Refuse(f"the number of {axes.name} must be known")
    return _with_axes(x, axes, rank, rank + count, build)


def _with_axes(x: Value, axes: Value, rank: int, result: int, build: Builder) -> Value:
    """Put a 1 where an axis is named, and the sizes of `x` into the other places."""
    if not rank:
        return build.Reshape(x, [1] * result)
    one, shape = np.ones(1, np.int64), build.Shape(x)
    place: Value = build.constant(np.zeros(1, np.int64))  # of the next size of x
    sizes: list[Value] = []
    for hit in among(late_from_front(axes, result, build), result, build):
        within = build.Where(build.Less(place, rank), place, np.array([rank - 1], np.int64))
        sizes.append(build.Where(hit, one, build.Gather(shape, within, axis=0)))
        place = build.Add(place, build.Where(hit, np.zeros(1, np.int64), one))
    return reshaped(x, build.Concat(*sizes, axis=0), build)
