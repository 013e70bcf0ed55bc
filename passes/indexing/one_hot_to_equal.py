"""Replace OneHot by a comparison with the values of the classes.

What it does: Compares the index with 0, 1, ... along a new axis; negative indices count from the
    end.
Why engines need it: TensorRT has an importer for OneHot from 8.5 on.
Before: y = OneHot <axis = -1> (index, depth, values)
After:
    n = Where (Less (index, 0), Add (index, depth), index)
    y = Where (Equal (Unsqueeze (n), constant {0, 1, ...}), on, off)

    A depth that is computed gives the values of the classes by Range.
When it refuses: The rank of the index is unknown, or a computed depth is no number of known rank.
Accuracy: Exact; an index outside the range gives a row that is off, as ONNX says. Indices and
    depths of a floating point type are cut to integers first.
References: https://onnx.ai/onnx/operators/onnx__OneHot.html
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_MAX_DEPTH = 1 << 20


@rewrite(
    "OneHot",
    removes="op:OneHot dtype:OneHot.* const:OneHot.* shape:OneHot.*",
    emits="Add Cast Equal Less Range Reshape Slice Squeeze Unsqueeze Where",
    since=9,
)
def one_hot_to_equal(node: NodeView, build: Builder) -> Value:
    """Compare with the classes, see the module."""
    index, values = node.need(0), node.need(2)
    if index.rank is None or index.dtype is None or values.dtype is None:
        raise Refuse("the rank of the index and the dtypes must be known")
    rank = index.rank + 1
    axis = int(node.attr("axis", -1))
    if not -rank <= axis < rank:
        raise Refuse(f"the axis must lie in rank {rank}; it is {axis}")
    axis %= rank
    if index.dtype not in (np.dtype(np.int32), np.dtype(np.int64)):
        index = build.Cast(index, to=TensorProto.INT64)
    shape = [1] * rank
    shape[axis] = -1
    depth, classes = _classes(build, node.need(1), index, shape)
    counted = build.Where(build.Less(index, 0), build.Add(index, depth), index)
    hit = build.Equal(build.Unsqueeze(counted, axes=[axis]), classes)
    off, on = _pair(build, values)
    return build.Where(hit, on, off)


def _classes(
    build: Builder, depth: Value, index: Value, shape: list[int]
) -> tuple[Value | int, Value]:
    """Return how many classes there are, and their numbers along the new axis."""
    assert index.dtype is not None
    known = build.const(depth)
    if known is not None:
        number = int(known.reshape(-1)[0])
        if not 0 < number <= _MAX_DEPTH:
            raise Refuse(f"the depth must be from 1 to {_MAX_DEPTH}; it is {number}")
        return number, build.constant(np.arange(number, dtype=index.dtype).reshape(shape))
    if depth.rank not in (0, 1) or depth.dtype is None or depth.dtype.kind not in "iuf":
        raise Refuse(
            f"a computed depth must be a number of rank 0 or 1; it is {depth.type_name} of "
            f"rank {depth.rank}"
        )
    if depth.elem_type != index.elem_type:
        depth = build.Cast(depth, to=index.elem_type)
    if depth.rank == 1:
        depth = build.Squeeze(depth, axes=[0])
    zero, one = (np.array(number, dtype=index.dtype) for number in (0, 1))
    return depth, build.Reshape(build.Range(zero, depth, one), shape)


def _pair(build: Builder, values: Value) -> tuple[Value, Value]:
    known = build.const(values)
    if known is not None:
        return build.constant(known.reshape(2)[0]), build.constant(known.reshape(2)[1])
    ends = [
        build.Squeeze(build.Slice(values, starts=[i], ends=[i + 1], axes=[0]), axes=[0])
        for i in (0, 1)
    ]
    return ends[0], ends[1]
