"""Convolve integers of uint8 where an engine takes no int8.

What it does: Adds 128 to weights or inputs of int8 and to their zero points, which are uint8 then:
    what is convolved, the difference of both, stays the same.
Why engines need it: onnxruntime before 1.24 has ConvInteger for weights of uint8 alone, and its own
    tools quantize weights to int8.
Before: y = ConvInteger (x, w, x_zero, w_zero)          # w, w_zero: int8
After: y = ConvInteger (x, w + 128 as uint8, x_zero, w_zero + 128 as uint8)
When it refuses: Neither is int8.
Accuracy: Exact: every int8 and 128 make a uint8.
References: https://onnx.ai/onnx/operators/onnx__ConvInteger.html; onnxruntime 1.16.3, asked
"""

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, respell, rewrite

_HALF = 128


@rewrite("ConvInteger", removes="dtype:ConvInteger.int8", emits="Add Cast ConvInteger", since=10)
def conv_integer_of_uint8(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Shift both by 128, see the module."""
    changes: dict[str, Any] = {}
    for at, (name, zero_name) in enumerate((("x", "x_zero_point"), ("w", "w_zero_point"))):
        x, zero = node.need(at), node.input(2 + at)
        if x.elem_type != TensorProto.INT8:
            continue
        changes[name] = _shifted(x, build)
        # Where none is given it is 0.
        none = build.constant(np.array(_HALF, np.uint8))
        changes[zero_name] = none if zero is None else _shifted(zero, build)
    if not changes:
        raise Refuse("inputs or weights must be int8; neither are")
    return respell(node, build, **changes)


def _shifted(x: Value, build: Builder) -> Value:
    known = build.const(x)
    if known is not None:
        return build.constant((known.astype(np.int16) + _HALF).astype(np.uint8))
    wide = build.Add(build.Cast(x, to=TensorProto.INT32), np.int32(_HALF))
    return build.Cast(wide, to=TensorProto.UINT8)
