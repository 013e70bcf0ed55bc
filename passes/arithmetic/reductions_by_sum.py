"""Write reductions as a sum, or as products of pairs.

What it does: ReduceL1 sums absolute values and ReduceSumSquare squares; ReduceL2 takes the root and
    ReduceLogSum the logarithm of a sum; ReduceMean of integers divides one by how many numbers are
    in it. ReduceProd multiplies one half by the other until one number is left.
Why engines need it: onnxruntime had ReduceSum of every type from the beginning, the others of
    float64 and int64 only later. QNN has no ReduceProd. onnx2tf refuses ReduceL1 and ReduceL2 whose
    axes are an input, or more than two. OpenVINO 2026.4 does not read the axes of ReduceL1 and
    ReduceLogSum from opset 13 to 17.
Before: y = ReduceL1 <axes = [1]> (x)            # float64
After: y = ReduceSum <axes = [1]> (Abs (x))
When it refuses: The axes are computed, or missing while noop_with_empty_axes is set; ReduceL2,
    ReduceLogSum and ReduceProd are not of floats, ReduceMean not of integers; sizes of ReduceMean
    and ReduceProd are not known, or 0.
Accuracy: Exact up to rounding. A mean of integers is cut off towards 0, as onnxruntime does; sums
    that do not fit are not defined.
References: https://onnx.ai/onnx/operators/onnx__ReduceL1.html; onnxruntime 1.10.0 and
    onnxruntime-qnn 2.7.0, onnx2tf 1.29.24 and openvino 2026.4.1, measured
"""

from math import prod

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, combined, need_rank, rewrite

from ._reductions import Reduced, reduced

_EITHER = ("ReduceL1", "ReduceSumSquare")
_FLOATS = ("ReduceL2", "ReduceLogSum", "ReduceProd")
_NORMS = ("ReduceL1", "ReduceL2")
_OPERATORS = (*_EITHER, *_FLOATS, "ReduceMean")


@rewrite(
    _OPERATORS,
    removes=(
        "op:ReduceProd",
        *(f"dtype:{op}.float64" for op in (*_EITHER, *_FLOATS)),
        *(f"dtype:{op}.int64" for op in (*_EITHER, "ReduceMean")),
        *(f"form:{op}.axes-input" for op in _NORMS),
        *(f"attr:{op}.axes" for op in (*_NORMS, "ReduceLogSum")),
    ),
    emits="Abs Concat Div Log Mul ReduceSum Slice Sqrt Squeeze Unsqueeze",
    since=7,
)
def reductions_by_sum(node: NodeView, build: Builder) -> Value:
    """Write it as a sum, see the module."""
    x = node.need(0)
    kind = x.dtype.kind if x.dtype is not None else ""
    wanted = "f" if node.op in _FLOATS else "i" if node.op == "ReduceMean" else "fi"
    if not kind or kind not in wanted:
        names = {"f": "floating point", "i": "integers", "fi": "floating point or integers"}
        raise Refuse(f"{x.name} must be {names[wanted]}; it is {x.type_name}")
    how = reduced(node, build)
    match node.op:
        case "ReduceL1":
            return how.sum(build.Abs(x), build)
        case "ReduceSumSquare":
            return how.sum(build.Mul(x, x), build)
        case "ReduceL2":
            return build.Sqrt(how.sum(build.Mul(x, x), build))
        case "ReduceLogSum":
            return build.Log(how.sum(x, build))
        case "ReduceMean":
            assert x.dtype is not None
            count = prod(size for _, size in _sizes(x, how))
            return build.Div(how.sum(x, build), build.constant(np.array(count, x.dtype)))
        case _:
            return _multiplied(x, how, build)


def _sizes(x: Value, how: Reduced) -> list[tuple[int, int]]:
    """Return the axes that are reduced, and their sizes.

    Raises:
        Refuse: One is not known, or 0.
    """
    rank = need_rank(x)
    axes = range(rank) if how.axes is None else sorted({a % rank for a in how.axes})
    sizes = [(axis, x.dim(axis)) for axis in axes]
    if not all(size for _, size in sizes):
        raise Refuse(f"the sizes of what is reduced must be known and above 0; they are {sizes}")
    return [(axis, size) for axis, size in sizes if size]


def _multiplied(x: Value, how: Reduced, build: Builder) -> Value:
    result = x
    for axis, size in reversed(_sizes(x, how)):
        result = combined("Mul", result, axis, size, build)
        if how.keepdims:
            result = build.Unsqueeze(result, axes=[axis])
    return result
