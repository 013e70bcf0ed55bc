"""Replace Shrink by comparisons and sums.

What it does: Adds the bias below -lambd, subtracts it above lambd, and puts 0 in between. Integers
    and float64 go through float32, as in onnxruntime.
Why engines need it: TensorRT has an importer for Shrink from 8.4 on.
Before: y = Shrink <lambd = 0.5, bias = 0.1> (x)
After: y = Where (Less (x, -0.5), Add (x, 0.1), Where (Greater (x, 0.5), Sub (x, 0.1), 0))
When it refuses: The dtype is unknown, an unsigned or 16-bit integer, or a float16 that does not
    hold one of the attributes.
Accuracy: Exact, for NaN and infinities too.
References: https://onnx.ai/onnx/operators/onnx__Shrink.html;
    onnxruntime/core/providers/cpu/nn/shrink.cc
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, listed, rewrite

_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16)
_BY_FLOAT = (TensorProto.INT32, TensorProto.INT64, TensorProto.DOUBLE)


@rewrite(
    "Shrink",
    removes="op:Shrink dtype:Shrink.*",
    emits="Add Cast Greater Less Sub Where",
    since=9,
    claims="nan inf",
)
def shrink_to_where(node: NodeView, build: Builder) -> Value:
    """Compare and choose, see the module."""
    x = node.need(0)
    bias = np.float32(node.attr("bias", 0.0))
    limit = np.float32(node.attr("lambd", 0.5))
    if x.elem_type in _BY_FLOAT:
        moved = _shrunk(build.Cast(x, to=TensorProto.FLOAT), bias, limit, build)
        return build.Cast(moved, to=x.elem_type)
    if x.elem_type not in _FLOATS or x.dtype is None:
        raise Refuse(f"{x.name} must be {listed(_FLOATS)}; it is {x.type_name}")
    if any(np.float32(x.dtype.type(number)) != number for number in (bias, limit)):
        raise Refuse(
            f"bias and lambd must be numbers of {x.type_name}; they are {bias} and {limit}"
        )
    return _shrunk(x, bias, limit, build)


def _shrunk(x: Value, bias: np.float32, limit: np.float32, build: Builder) -> Value:
    shift, edge = float(bias), float(limit)
    inner = build.Where(build.Greater(x, edge), build.Sub(x, shift), _zero(x, build))
    return build.Where(build.Less(x, -edge), build.Add(x, shift), inner)


def _zero(x: Value, build: Builder) -> Value:
    assert x.dtype is not None
    return build.constant(np.zeros((), dtype=x.dtype))
