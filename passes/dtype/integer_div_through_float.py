"""Divide integers in floats and cut the fraction off.

What it does: Casts both operands to float64, divides, and casts back, which cuts off towards zero,
    as a division of integers does.
Why engines need it: OpenCV 4 computes all in floats and leaves the fraction: 7 / 2 is 3.5, without
    a word.
Before: y = Div (a, b)                   # int32
After: y = Cast <to = 6> (Div (Cast <to = 11> (a), Cast <to = 11> (b)))
When it refuses: The operands are no integers.
Accuracy: Exact for integers of up to 32 bits, whose quotients differ from integers by more
    than float64 rounds. Approximate for 64 bits: a dividend or a divisor beyond 2^53 is rounded. An
    engine that computes in float32 does so beyond 2^23. A division by 0 is not defined.
References: https://onnx.ai/onnx/operators/onnx__Div.html; measured on OpenCV 4.8.1 and 4.10.0
"""

from onnx import TensorProto

from graphfix.authoring import APPROXIMATE, Builder, NodeView, Refuse, Value, rewrite

_WIDE = 8


@rewrite(
    "Div",
    removes=tuple(f"dtype:Div.{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    emits="Cast Div",
)
def integer_div_through_float(node: NodeView, build: Builder) -> Value:
    """Divide in float64, see the module."""
    a, b = node.need(0), node.need(1)
    if a.dtype is None or a.dtype.kind not in "iu":
        raise Refuse(f"{a.name} must be an integer; it is {a.type_name}")
    if a.dtype.itemsize >= _WIDE:
        build.declare(APPROXIMATE, "operands beyond 2^53 in size are rounded")
    wide = [build.Cast(value, to=TensorProto.DOUBLE) for value in (a, b)]
    return build.Cast(build.Div(*wide), to=a.elem_type)
