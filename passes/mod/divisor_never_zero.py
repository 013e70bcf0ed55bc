"""Divide integers by a computed divisor that is never 0.

What it does: Adds 1 to a divisor where it is 0, and nothing elsewhere.
Why engines need it: rknn-toolkit2 runs a model with zeros when it builds it, and a division of
    integers by 0 ends its process.
Before: y = Div (a, b)                                 b: int64, computed
After: y = Div (a, Add (b, Cast <to = INT64> (Equal (b, 0))))
When it refuses: The divisor is constant, of another type than int32 and int64, or such a sum
    already.
Accuracy: Exact wherever the division gives a number, and the site says so. There is none for a
    divisor 0: onnxruntime stops ("Integer modulo by zero").
References: https://onnx.ai/onnx/operators/onnx__Div.html; rknn-toolkit2 2.3.2, measured
"""

import numpy as np

from graphfix.authoring import EXACT, Builder, NodeView, Refuse, Value, rewrite

_TYPES = (np.dtype(np.int32), np.dtype(np.int64))


@rewrite(["Div", "Mod"], removes="const:Div.B const:Mod.B", emits="Add Cast Div Equal Mod", since=7)
def divisor_never_zero(node: NodeView, build: Builder) -> Value:
    """Add 1 where it is 0, see the module."""
    a, b = node.need(0), node.need(1)
    if b.dtype not in _TYPES:
        raise Refuse(f"the divisor must be int32 or int64; it is {b.type_name or 'unknown'}")
    if build.const(b) is not None:
        raise Refuse("the divisor must be computed; it is a constant")
    if _is_never_zero(b):
        raise Refuse("the divisor must be one that can be 0; 1 is added where it is")
    build.declare(EXACT, "for divisors other than 0; there is no quotient by 0")
    zero = build.Equal(b, np.zeros((), b.dtype))
    divisor = build.Add(b, build.Cast(zero, to=b.elem_type))
    attributes = {name: node.attr(name) for name in node.attributes}
    return build.node(node.op, a, divisor, **attributes)


def _is_never_zero(divisor: Value) -> bool:
    added = divisor.producer
    cast = added.need(1).producer if added is not None and added.op == "Add" else None
    zero = cast.need(0).producer if cast is not None and cast.op == "Cast" else None
    return (
        added is not None
        and zero is not None
        and zero.op == "Equal"
        and (zero.input(0) == added.input(0))
    )
