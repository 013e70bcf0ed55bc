"""Take as many of the largest elements as there can be, and keep those that are wanted.

What it does: Where K is computed but known never to be above a number, TopK takes that many, and a
    Slice keeps the first K of them. An axis whose size is not known is first made long enough with
    the lowest number, which is given last.
Why engines need it: TensorRT before 8.6 takes K from an initializer only, and no version takes more
    than 3840.
Before: values, indices = TopK (x, Min (Shape (x)[1], 100))
After:
    more = Pad (x, 100 times -inf)
    v, i = TopK (more, 100)
    values = Slice (v, 0, Min (Shape (x)[1], 100))
    indices = Slice (i, 0, Min (Shape (x)[1], 100))
When it refuses:
    K is a constant; neither the size of the axis nor a number that K is never above is known;
    `sorted` is 0, for what comes first is undefined then; the elements are not float16,
    float32, float64, int32 or int64; the rank is unknown.
Accuracy: Exact. A K above the size of the axis is an error before and gives what was added after.
    NaN is not treated.
References: https://onnx.ai/onnx/operators/onnx__TopK.html; onnx-tensorrt builtin_op_importers.cpp:
    importTopK (8.2, 8.5); NvInfer.h 8.6.1:7335
"""

import numpy as np

from graphfix.analysis.folding.upper_bounds import upper_bound
from graphfix.authoring import Builder, NodeView, Refuse, Value, listed, rewrite

_TYPES = ("float16", "float32", "float64", "int32", "int64")


@rewrite("TopK", removes="const:TopK.K attr:TopK.k", emits="Pad Slice TopK", since=11)
def topk_of_computed_k(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Take the most that K can be, see the module."""
    x, k = node.need(0), node.need(1)
    if build.const(k) is not None:
        raise Refuse("K must be computed; it is a constant")
    if x.type_name not in _TYPES or x.dtype is None or x.rank is None:
        raise Refuse(
            f"{x.name} must be {listed(_TYPES)} of a known rank; it is {x.type_name} of rank "
            f"{x.rank}"
        )
    if not int(node.attr("sorted", 1)):
        raise Refuse("sorted must be 1; it is 0: which elements come first is undefined")
    largest, axis = int(node.attr("largest", 1)), int(node.attr("axis", -1)) % x.rank
    size, bound = x.dim(axis), upper_bound(k)
    known = [number for number in (size, bound) if number is not None]
    if not known:
        raise Refuse(f"how large {k.name} can get must be known, or the size of axis {axis}")
    most = min(known)
    if most < 1:
        raise Refuse(f"{k.name} must be able to exceed 0; it is never above {most}")
    data = x if size is not None else _lengthened(build, x, axis, most, last=largest == 1)
    found = build.multi(
        "TopK", data, np.array([most]), outputs=2, axis=axis, largest=largest, sorted=1
    )
    kept = [
        build.Slice(value, starts=[0], ends=k, axes=[axis]) if node.output(index) else None
        for index, value in enumerate(found)
    ]
    return tuple(kept[: len(node.outputs)])


def _lengthened(build: Builder, x: Value, axis: int, count: int, *, last: bool) -> Value:
    """Append numbers that are given after all others: of equal ones the first comes first."""
    assert x.dtype is not None
    assert x.rank is not None
    if x.dtype.kind == "f":
        lowest = np.array(-np.inf if last else np.inf, dtype=x.dtype)
    else:
        limits = np.iinfo(x.dtype)
        lowest = np.array(limits.min if last else limits.max, dtype=x.dtype)
    pads = np.zeros(2 * x.rank, dtype=np.int64)
    pads[x.rank + axis] = count
    return build.Pad(x, pads=pads, constant_value=lowest, mode="constant")
