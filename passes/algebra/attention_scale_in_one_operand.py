"""Scale the product of an attention otherwise than a fusion looks for.

What it does: Multiplies the product by the reciprocal of what divided it, or one of its operands by
    both factors where both were scaled.
Why engines need it: OpenCV 5 joins attention to a layer of its own where the product is divided or
    both operands are scaled, as PyTorch writes it. The layer needs a bias for each of query, key
    and value, takes the last axis for that of Softmax, and has no weights of attention to return.
Before: p = Softmax (Add (Div (MatMul (q, k), 2.8), mask))
After: p = Softmax (Add (Mul (MatMul (q, k), 0.357), mask))
When it refuses: The product is scaled otherwise, or by what is no constant, or one that is 0 or not
    finite.
Accuracy: Exact up to rounding.
References: https://onnx.ai/onnx/operators/onnx__Softmax.html; measured on OpenCV 5.0.0
"""

from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, respell, rewrite


@rewrite("Softmax", removes="form:Softmax.attention", emits="Add MatMul Mul Softmax")
def attention_scale_in_one_operand(node: NodeView, build: Builder) -> Value | None:
    """Scale the product or one operand, see the module."""
    maker, mask = node.need(0).producer, None
    if maker is not None and maker.op == "Add":
        maker, mask = _without_mask(maker)
    if maker is not None and maker.op == "Div":
        divisor = _usable(build.need_const(maker.need(1), "the divisor"))
        scaled = build.Mul(maker.need(0), _rounded(1 / divisor.astype(np.float64), divisor.dtype))
        scaled = scaled if mask is None else build.Add(scaled, mask)
    elif maker is not None and maker.op == "MatMul" and mask is None:
        (left, one), (right, two) = (_taken_apart(value, build) for value in maker.inputs)
        both = one.astype(np.float64) * two.astype(np.float64)
        scaled = build.MatMul(build.Mul(left, _rounded(both, one.dtype)), right)
    else:
        raise Refuse("a product must be divided, or of operands that are scaled")
    return respell(node, build, input=scaled)[0]


def _without_mask(added: NodeView) -> tuple[NodeView | None, Value]:
    """Return what makes the quotient that a mask is added to, and the mask."""
    for quotient, mask in ((0, 1), (1, 0)):
        maker = added.need(quotient).producer
        if maker is not None and maker.op == "Div":
            return maker, added.need(mask)
    raise Refuse("what a mask is added to must be a quotient")


def _taken_apart(value: Value | None, build: Builder) -> tuple[Value, Array]:
    """Return what is scaled, and by which number."""
    maker = None if value is None else value.producer
    if maker is not None and maker.op == "Mul":
        for place in (0, 1):
            factor = build.const(maker.need(place))
            if factor is not None and factor.size == 1:
                return maker.need(1 - place), _usable(factor)
    raise Refuse("both operands of the product must be scaled by a number")


def _rounded(number: Array, dtype: np.dtype[Any]) -> Array:
    with np.errstate(over="ignore", under="ignore"):
        return _usable(number.astype(dtype))


def _usable(number: Array) -> Array:
    if number.size != 1 or not np.isfinite(number).all() or not number.all():
        raise Refuse("it must be one number that is finite and not 0")
    return number
