"""Replace logcumsumexp by a scan that doubles its reach in each step.

What it does: Adds to each element, in the log domain, its neighbour 1, then 2, then 4 ... places
    before: after log2 of the size steps each holds the logarithm of the sum of all exponentials up
    to it. One step is max(a, b) + log1p(exp(-|a - b|)), which never overflows.
Why engines need it: ONNX has no such operator, and PyTorch's exporter writes an ATen node. A
    cumulated sum of exponentials would lose whatever is small next to the largest element.
Before: y = org.pytorch.aten.ATen <operator = "logcumsumexp"> (x, 1)     # x: float[2, 5]
After:
    a, b = Slice <axis 1, from 1> (x), Slice <axis 1, to 4> (x)
    e = Exp (Neg (Abs (Sub (a, b))))
    s1 = Concat <axis = 1> (Slice <axis 1, to 1> (x), Max (a, b) + log1p (e))
    ...                                                              # then 2 and 4 places
When it refuses: The axis is computed at run time, the rank, the type or the size of the axis is
    unknown, the type is not floating point, or it is float64 below opset 11.
Accuracy: Exact up to rounding: the error grows with the number of steps (log2 of the size), while
    that of PyTorch's running sum grows with the size. float16 and bfloat16 are computed in float32.
    Minus infinity, which stands for nothing, and plus infinity are treated as in PyTorch. A NaN
    makes what follows NaN where the engine's Max and Clip keep it.
References: pytorch/pytorch aten/src/ATen/native/cpu/LogAddExp.h and ReduceOpsKernel.cpp
    (logcumsumexp); D. Goldberg, What every computer scientist should know about floating-point
    arithmetic, theorem 4 (log1p); Hillis and Steele, Data parallel algorithms (the scan).
"""

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value

from ._arguments import ArrayCall, call_of, replacing
from ._axes import FLOATS, widened

NAMES = ("logcumsumexp",)
SCHEMA = ("self", "dim")


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Use numpy, in float64."""
    call = ArrayCall(inputs, attributes, SCHEMA)
    x, axis = call.need("self"), int(call.number("dim"))
    wide = np.logaddexp.accumulate(x.astype(np.float64), axis=axis)
    return (np.asarray(wide, dtype=x.dtype),)


@replacing(
    NAMES,
    emits="Abs Add Cast Clip Concat Div Exp Greater Log Max Mul Neg Slice Sub",
    evaluate=evaluate,
)
def aten_logcumsumexp(node: NodeView, build: Builder) -> Value:
    """Scan, see the module."""
    call = call_of(node, {"logcumsumexp": SCHEMA})
    x, dim = call.need("self"), call.number("dim")
    if not x.rank or x.elem_type not in FLOATS:
        raise Refuse(f"the rank of {x.name} must be at least 1 and its dtype floating point")
    if dim is None or not -x.rank <= int(dim) < x.rank:
        raise Refuse(f"the axis must lie in rank {x.rank}; it is {dim}")
    axis = int(dim) % x.rank
    size = x.dim(axis)
    if not size:
        raise Refuse(f"the size of axis {axis} must be known and not 0")

    def work(values: Value) -> Value:
        reach = 1
        while reach < size:
            values = _step(build, values, axis, size, reach)
            reach *= 2
        return values

    return widened(build, x, work)


def _step(build: Builder, x: Value, axis: int, size: int, reach: int) -> Value:
    def later(value: Value) -> Value:
        return build.Slice(value, starts=[reach], ends=[size], axes=[axis])

    def earlier(value: Value) -> Value:
        return build.Slice(value, starts=[0], ends=[size - reach], axes=[axis])

    # Two infinities have no difference; two of the largest numbers have, and it is as good.
    finite = _clipped(build, x)
    distance = build.Abs(build.Sub(later(finite), earlier(finite)))
    added = _log1p(build, build.Exp(build.Neg(distance)))
    sums = build.Add(build.Max(later(x), earlier(x)), added)
    head = build.Slice(x, starts=[0], ends=[reach], axes=[axis])
    return build.Concat(head, sums, axis=axis)


def _clipped(build: Builder, x: Value) -> Value:
    """Return `x` with the largest finite numbers in the place of infinities."""
    assert x.dtype is not None  # the caller has looked
    most = np.finfo(x.dtype).max
    if build.opset < 11:
        if x.elem_type == TensorProto.DOUBLE:
            raise Refuse(
                "the opset must be at least 11 for limits beyond those of float32; it is "
                f"{build.opset}"
            )
        return build.Clip(x, min=-float(most), max=float(most))
    return build.Clip(x, min=np.asarray(-most), max=np.asarray(most))


def _log1p(build: Builder, x: Value) -> Value:
    """Return log(1 + x) of numbers from 0 to 1, without losing those next to which 1 is large.

    log(u) / (u - 1) with u = 1 + x rounded, times x; and 1 times x where u is 1.
    """
    one = build.constant(np.ones((), dtype=x.dtype))
    u = build.Add(x, one)
    above = build.Sub(u, one)
    same = build.Sub(one, build.Cast(build.Greater(above, 0.0), to=x.elem_type))
    share = build.Div(build.Add(build.Log(u), same), build.Add(above, same))
    return build.Mul(x, share)
