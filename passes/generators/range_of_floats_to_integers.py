"""Count a Range of floats in integers.

What it does: Computes the length, counts to it in int32, and multiplies and shifts what was
    counted.
Why engines need it: Up to 8.2 TensorRT takes int32 only for bounds that are computed ("For range
    operator with dynamic inputs, this version of TensorRT only supports INT32!"), later ones
    float32 as well.
Before: y = Range (start, limit, 1.0)
After:
    n = Cast <to = 6> (Ceil (Div (Sub (limit, start), 1.0)))
    y = Add (Mul (Cast (Range (0, n, 1)), 1.0), start)
When it refuses: The step is computed, or is no power of two: the division could round the length up
    or down.
Accuracy: Exact where the range begins at a constant 0: dividing by a power of two does not round.
    Approximate elsewhere: onnxruntime takes the difference of the bounds in float64, and where that
    rounds to a multiple of the step in the type of the bounds, there is one element less or more.
    The elements that both have are the same. A negative length becomes 0.
References: https://onnx.ai/onnx/operators/onnx__Range.html; builtin_op_importers.cpp of
    onnx-tensorrt, release 8.0, importRange; onnx-tensorrt issue 752
"""

import math

import numpy as np
from onnx import TensorProto

from graphfix.authoring import APPROXIMATE, Builder, NodeView, Refuse, Value, rewrite


@rewrite(
    "Range",
    removes=tuple(f"dtype:Range.{name}" for name in ("float16", "float32", "float64")),
    emits="Add Cast Ceil Div Max Mul Range Sub",
)
def range_of_floats_to_integers(node: NodeView, build: Builder) -> Value:
    """Count in int32, see the module."""
    start, limit, delta = node.need(0), node.need(1), node.need(2)
    dtype = start.dtype
    if dtype is None or dtype.kind != "f":
        raise Refuse(f"{start.name} must be floating point; it is {start.type_name}")
    step = float(build.need_const(delta, "the step").reshape(-1)[0])
    if not math.isfinite(step) or math.frexp(abs(step))[0] != 0.5:
        raise Refuse(f"the step must be a power of two; it is {step:g}")
    first = build.const(start)
    away = limit if first is not None and not first.any() else build.Sub(limit, start)
    if away is not limit:
        build.declare(
            APPROXIMATE,
            "one element more or less where the difference of the bounds rounds to a multiple of "
            "the step",
        )
    length = build.Ceil(away if step == 1 else build.Div(away, step))
    counted = build.Range(
        np.int32(0), build.Cast(build.Max(length, 0.0), to=TensorProto.INT32), np.int32(1)
    )
    result = build.Cast(counted, to=start.elem_type)
    if step != 1:
        result = build.Mul(result, step)
    return result if away is limit else build.Add(result, start)
