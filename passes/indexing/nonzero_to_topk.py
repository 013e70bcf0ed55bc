"""Find the places of what is not zero by sorting places instead of NonZero.

What it does: Gives the elements that are not zero falling scores by their places, takes all places
    by falling score, keeps as many as there are, and takes each place apart into indices. How many
    there are is counted by a convolution.
Why engines need it: TensorRT for RTX leaves NonZero to a plugin that it does not ship. It takes a
    size that is computed from floats where a layer such as a convolution is before it; the
    versions of TensorRT that lack NonZero do not, so that they are no better off.
Before: i = NonZero (x)                    x: [2, 3]
After:
    m = Cast (Cast (Reshape (x, {1, 1, 6}), bool), float)
    k = Cast (Conv (m, ones), int64)
    _, places = TopK (Mul (m, {6, 5, 4, 3, 2, 1}), 6)
    p = Slice (places, 0, k)
    i = Concat (Div (p, 3), Mod (Div (p, 1), 3))
When it refuses: A size is unknown or 0; the rank is 0; there are more elements than TopK takes in
    any engine (3840).
Accuracy: Exact: places and counts are integers below 2**24, which float32 holds, and no two
    scores of what is kept are equal.
References: https://onnx.ai/onnx/operators/onnx__NonZero.html; measured with tensorrt-rtx 1.7.1
"""

from math import prod

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_MOST = 3840  # NvInfer.h 8.6.1:7335


@rewrite(
    "NonZero",
    removes="form:NonZero.plugin",
    emits="Cast Concat Conv Div Mod Mul Reshape Slice TopK Unsqueeze",
    since=11,
    claims="nan inf",
)
def nonzero_to_topk(node: NodeView, build: Builder) -> Value:
    """Sort the places, see the module."""
    x = node.need(0)
    shape = x.static_shape
    if not shape:
        raise Refuse(f"the sizes of {x.name} must be known, and one at least; they are not")
    count = prod(shape)
    if not 0 < count <= _MOST:
        raise Refuse(f"there must be 1 to {_MOST} elements, which TopK takes; there are {count}")
    flat = build.Reshape(x, [1, 1, count])
    found = flat if x.elem_type == TensorProto.BOOL else build.Cast(flat, to=TensorProto.BOOL)
    ones = build.Cast(found, to=TensorProto.FLOAT)
    counted = build.Conv(ones, build.constant(np.ones((1, 1, count), np.float32)))
    total = build.Cast(build.Reshape(counted, [1]), to=TensorProto.INT64)
    scores = build.Mul(ones, np.arange(count, 0, -1, dtype=np.float32))
    _, places = build.multi(
        "TopK", build.Reshape(scores, [count]), np.array([count]), outputs=2, axis=0
    )
    kept = build.Slice(places, starts=[0], ends=total, axes=[0])
    rows = [_index(build, kept, shape, axis) for axis in range(len(shape))]
    return rows[0] if len(rows) == 1 else build.Concat(*rows, axis=0)


def _index(build: Builder, places: Value, shape: tuple[int, ...], axis: int) -> Value:
    """Return the indices along an axis as a row."""
    step = prod(shape[axis + 1 :])
    found = places if step == 1 else build.Div(places, np.array(step, np.int64))
    if axis:
        found = build.Mod(found, np.array(shape[axis], np.int64))
    return build.Unsqueeze(found, axes=[0])
