"""Replace Compress by Gather of the places where the condition holds.

What it does: Finds the places where the condition is true, in the file where it is a constant and
    by NonZero otherwise, and gathers there. Without an axis the data is laid out as one vector
    first. What a condition holds beyond the last element is cut off, and where the size of the axis
    is computed at run time, a constant condition becomes slices of its runs, which end where the
    data ends.
Why engines need it: TensorRT has no importer for Compress; NonZero it has from 8.5 on.
Before: y = Compress <axis = 1> (x, condition)
After: y = Gather <axis = 1> (x, Squeeze <axes = {0}> (NonZero (condition)))
When it refuses: The data are strings.
Accuracy: Exact: elements are moved. Where a condition is longer than the axis, which ONNX does not
    provide for, the rest of it is overlooked, as onnxruntime does.
References: https://onnx.ai/onnx/operators/onnx__Compress.html
"""

from math import prod

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank, rewrite

_MOST_RUNS = 16


@rewrite(
    "Compress",
    removes="op:Compress dtype:Compress.*",
    emits="Concat Gather NonZero Reshape Shape Slice Squeeze",
    since=9,
)
def compress_to_gather(node: NodeView, build: Builder) -> Value:
    """Gather where the condition holds, see the module."""
    x, condition = node.need(0), node.need(1)
    if x.type_name == "string":
        raise Refuse(f"{x.name} must not hold strings; it does")
    if node.has("axis") and int(node.attr("axis")) < 0:
        need_rank(x)
    flat = not node.has("axis")
    axis = 0 if flat else int(node.attr("axis"))
    sizes = x.static_shape
    size = (None if sizes is None else prod(sizes)) if flat else x.dim(axis)
    data = build.Reshape(x, [-1]) if flat and x.rank != 1 else x
    known = build.const(condition)
    if known is not None and (size is not None or not known.any()):
        places = np.flatnonzero(known[:size]).astype(np.int64)
        return build.Gather(data, places, axis=axis)
    if known is not None and len(runs := _runs(known)) <= _MOST_RUNS:
        parts = [build.Slice(data, starts=[a], ends=[b], axes=[axis]) for a, b in runs]
        return parts[0] if len(parts) == 1 else build.Concat(*parts, axis=axis)
    length = condition.dim(0)
    if size is None and (flat or not _same_symbol(condition, x, axis)):
        at = np.array([axis if axis >= 0 else axis + (x.rank or 0)], dtype=np.int64)
        condition = build.Slice(
            condition, [0], build.Gather(build.Shape(data), at, axis=0), axes=[0]
        )
    elif size is not None and (length is None or length > size):
        condition = build.Slice(condition, starts=[0], ends=[size], axes=[0])
    return build.Gather(data, build.Squeeze(build.NonZero(condition), axes=[0]), axis=axis)


def _runs(condition: np.ndarray) -> list[tuple[int, int]]:
    """Return where each run of true elements begins and ends."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], condition, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _same_symbol(condition: Value, x: Value, axis: int) -> bool:
    if condition.shape is None or x.shape is None:
        return False
    return isinstance(size := x.shape[axis], str) and condition.shape[0] == size
