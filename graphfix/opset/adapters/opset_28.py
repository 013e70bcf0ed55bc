"""Between opset 28 and 27.

References: the schemas of onnx/defs/math/defs.cc and old.cc; Mod in
https://onnx.ai/onnx/operators/onnx__Mod.html.
"""

from __future__ import annotations

import numpy as np

from graphfix.authoring import Builder, NodeView, Value, need_elem_type
from graphfix.opset.adapters._bits import SIGNED, shift
from graphfix.opset.adapting import KEEP, Adapted, adapter

_FLOATS = ("float16", "float32", "float64", "bfloat16")


@adapter("Mod", 28, 27)
def mod_down(node: NodeView, build: Builder) -> Adapted:
    """Floored Mod of floats is new: take the truncated one and move it to the divisor's side.

    A remainder of 0 gets the sign of the divisor; an infinite or zero operand gives what
    truncation gives, NaN, except that an infinite divisor of the other sign is the result.
    """
    left, right = node.need(0), node.need(1)
    need_elem_type(left)
    if left.type_name not in _FLOATS or node.attr("fmod", 0) == 1:
        return KEEP
    rest = build.Mod(left, right, fmod=1)
    zero = _zero(left, build)
    negative = build.Less(right, zero)
    other_side = build.And(
        build.Not(build.Equal(rest, zero)), build.Xor(build.Less(rest, zero), negative)
    )
    moved = build.Where(other_side, build.Add(rest, right), rest)
    # Adding a negative zero keeps it, so 0 is written with the sign that it is to have.
    signed = build.Where(negative, build.Neg(zero), zero)
    return build.Where(build.Equal(moved, zero), signed, moved)


def _zero(value: Value, build: Builder) -> Value:
    dtype = value.dtype
    assert dtype is not None
    return build.constant(np.zeros((), dtype=dtype))


@adapter("BitShift", 28, 27)
def bit_shift_down(node: NodeView, build: Builder) -> Adapted:
    """Shifts of signed integers are new: the bits are shifted as unsigned ones."""
    x, by = node.need(0), node.need(1)
    if need_elem_type(x) not in SIGNED:
        return KEEP
    return shift(x, by, node.attr("direction"), build)
