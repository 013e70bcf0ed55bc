"""Replace CumSum by the sum over a masked copy for each position.

What it does: Puts the data next to itself once for each position along the axis, leaves in each
    copy what comes before that position, and sums. `exclusive` and `reverse` are other masks.
    Integers are added to themselves moved by 1, 2, 4, ... places instead, without a second
    dimension, and so is all along an axis whose size is not known: in 31 steps, as many as the
    longest axis needs.
Why engines need it: TensorRT has an importer for CumSum from 7.2 on. It makes a loop, which cannot
    compute a shape, and shape tensors have at most one dimension in 8.x: a vector of integers, such
    as the lengths after repeat_interleave, often ends in one.
Before: y = CumSum (x, 1)                  x: [2, 3]
After:
    y = ReduceSum <axes = {2}> (Where (mask, Unsqueeze <axes = {1}> (x), 0))
                                       mask: [3, 3], true up to the diagonal

    for x: int64[3]:
    a = Add (x, Gather (Concat (0, x), {0, 1, 2}))
    y = Add (a, Gather (Concat (0, a), {0, 0, 1}))
When it refuses: The axis is computed at run time, the size along it is above `max_size`, or the
    rank or the dtype is unknown.
Accuracy: Exact for integers, which wrap around as in CumSum (ReduceSum of onnxruntime goes through
    float64, and is not used for them). For floating point numbers exact up to the order of
    summation.
References: https://onnx.ai/onnx/operators/onnx__CumSum.html
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Option, Refuse, Value, pairwise, rewrite, running


@rewrite(
    "CumSum",
    removes="op:CumSum const:CumSum.* dtype:CumSum.* attr:CumSum.* shape:CumSum.* form:CumSum.*",
    emits=(pairwise.EMITS_OF_ANY_SIZE, "ReduceSum Unsqueeze"),
    since=11,
    options={"max_size": Option(int, 1024, "Longer axes are refused.")},
)
def cumsum_to_sum(node: NodeView, build: Builder) -> Value:
    """Sum masked copies, see the module."""
    x = node.need(0)
    if x.rank is None or x.rank < 1 or x.dtype is None:
        raise Refuse(f"the rank and the dtype of {x.name} must be known")
    axis = int(build.need_const(node.need(1), "the axis").reshape(()))
    if not -x.rank <= axis < x.rank:
        raise Refuse(f"the axis must lie in rank {x.rank}; it is {axis}")
    axis %= x.rank
    size = x.dim(axis)
    if size is not None and size > build.option("max_size"):
        raise Refuse(f"the size of axis {axis} must be at most max_size; it is {size}")
    reverse, exclusive = bool(node.attr("reverse", 0)), bool(node.attr("exclusive", 0))
    if size is None or x.dtype.kind in "iu":
        return running("Add", x, axis, size, build, reverse=reverse, exclusive=exclusive)
    # Element [i, j]: whether number j is a part of sum i.
    before = np.arange(size)[None, :] - np.arange(size)[:, None]
    if reverse:
        before = -before
    mask = before < 0 if exclusive else before <= 0
    wide = mask.reshape([size, size, *[1] * (x.rank - axis - 1)])
    spread = build.Unsqueeze(x, axes=[axis])
    kept = build.Where(build.constant(wide), spread, np.zeros((), x.dtype))
    return build.ReduceSum(kept, axes=[axis + 1], keepdims=0)
