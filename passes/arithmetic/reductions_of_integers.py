"""Write ReduceL2, ReduceLogSum and ReduceLogSumExp of integers as integers.

What it does: ReduceL2 sums squares in int64, takes the root in float32, and corrects it by one step
    of Newton and two comparisons to the root rounded down. ReduceLogSum counts the powers of e that
    the sum reaches. ReduceLogSumExp adds to the largest number the logarithm of how many there are
    of it: the exponential of a difference below 0 is 0 as an integer.
Why engines need it: TensorRT takes neither root nor logarithm of integers ("unary operation SQRT
    ... INT32").
Before: y = ReduceL2 <axes = [1]> (x)            # int32
After:
    s = ReduceSum <axes = [1]> (Mul (Cast <to = 7> (x), Cast <to = 7> (x)))
    r = ...                                  # the integer whose square is next below s
    y = Cast <to = 6> (r)
When it refuses: The elements are not int32 or int64; the axes are computed, or missing while
    noop_with_empty_axes is set; for logarithms, the rank is not known.
Accuracy: Exact: rounded down as onnxruntime does, for sums that int64 holds. Engines that count
    int64 in 32 bits, as TensorRT up to 9.3, wrap sums beyond them around, as their ReduceSumSquare
    does. The logarithm of 0 and below is what a Cast makes of minus infinity and NaN. Of
    ReduceLogSumExp ONNX does not say how integers are rounded on the way: as onnxruntime does it.
References: builtin_op_importers.cpp:3651, 3676 of onnx-tensorrt, release 8.6; onnxruntime 1.32
    measured: it sums and takes roots in float64 and cuts off
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Value, need_rank, need_type, rewrite

from ._reductions import (
    LOG_EMITS,
    ROOT_EMITS,
    Reduced,
    at_most_int32,
    reduced,
    sum_of_squares,
    whole_logarithm,
    whole_root,
)

_INT64: int = TensorProto.INT64
_TYPES = (TensorProto.INT32, TensorProto.INT64)


@rewrite("ReduceL2", removes="dtype:ReduceL2.int32 dtype:ReduceL2.int64", emits=ROOT_EMITS, since=9)
def reduce_l2_of_integers(node: NodeView, build: Builder) -> Value:
    """Write ReduceL2 of integers as a root in integers."""
    x = node.need(0)
    need_type(x, _TYPES)
    how = reduced(node, build)
    total, above = sum_of_squares(_wide(x, build), how, build)
    root = whole_root(total, build)
    if x.elem_type == TensorProto.INT64:
        return root
    return build.Cast(at_most_int32(root, above, build), to=x.elem_type)


@rewrite(
    "ReduceLogSum",
    removes="dtype:ReduceLogSum.int32 dtype:ReduceLogSum.int64",
    emits=LOG_EMITS,
    since=9,
)
def reduce_log_sum_of_integers(node: NodeView, build: Builder) -> Value:
    """Write ReduceLogSum of integers by counting powers of e."""
    x = node.need(0)
    need_type(x, _TYPES)
    need_rank(x)
    total = reduced(node, build).sum(_wide(x, build), build)
    return whole_logarithm(total, x.elem_type, build)


@rewrite(
    "ReduceLogSumExp",
    removes="dtype:ReduceLogSumExp.int32 dtype:ReduceLogSumExp.int64",
    emits=(LOG_EMITS, "Add ReduceMax"),
    since=9,
)
def reduce_log_sum_exp_of_integers(node: NodeView, build: Builder) -> Value:
    """Write ReduceLogSumExp of integers as the largest and how many there are of it."""
    x = node.need(0)
    need_type(x, _TYPES)
    need_rank(x)
    how = reduced(node, build)
    kept = Reduced(how.axes, 1)
    same = build.Cast(build.Equal(x, kept.by("ReduceMax", x, build)), to=_INT64)
    count, most = how.sum(same, build), how.by("ReduceMax", x, build)
    total = build.Add(_wide(most, build), whole_logarithm(count, _INT64, build))
    # Cut off towards 0: what is below 0 and no integer goes up.
    up = build.And(build.Greater(count, np.int64(1)), build.Less(total, np.int64(0)))
    total = build.Add(total, build.Cast(up, to=_INT64))
    whole = total if x.elem_type == _INT64 else build.Cast(total, to=x.elem_type)
    return build.Where(build.Less(count, np.int64(1)), most, whole)  # of none, the least number


def _wide(x: Value, build: Builder) -> Value:
    return x if x.elem_type == TensorProto.INT64 else build.Cast(x, to=TensorProto.INT64)
