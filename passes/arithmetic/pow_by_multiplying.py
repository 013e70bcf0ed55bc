"""Write powers of floats by a small integer as products, and by a half as Sqrt.

What it does: Multiplies squares of the base; a power below 0 is the reciprocal of that above it.
Why engines need it: ncnn computes x^y as exp(y * log(x)), which gives other values for 0 and for
    what is below it. By its Pow pnnx knows a LayerNormalization that is written out, and gets it
    wrong over all axes.
Before: y = Pow (x, 3.0)
After: y = Mul (Mul (x, x), x)
When it refuses: The exponent is no constant of one element, whole and from -8 to 8 but not 0, or a
    half; it has more axes than the base.
Accuracy: Exact up to rounding. A half power of minus infinity is infinite, and its root is NaN.
References: https://onnx.ai/onnx/operators/onnx__Pow.html; src/layer/x86/x86_usability.h of
    Tencent/ncnn
"""

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_type, rewrite

_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)
_LARGEST = 8
_HALF = 0.5


@rewrite(
    "Pow",
    removes="form:Pow.layer-norm form:Pow.negative form:Pow.zero",
    emits="Identity Mul Reciprocal Sqrt",
    since=7,
)
def pow_by_multiplying(node: NodeView, build: Builder) -> Value:
    """Multiply the base by itself, see the module."""
    x, exponent = node.need(0), build.need_const(node.need(1), "the exponent")
    need_type(x, _FLOATS)
    if exponent.size != 1 or x.rank is None or exponent.ndim > x.rank:
        raise Refuse(
            "the exponent must have one element and at most the rank of the base;"
            f" its shape is {list(exponent.shape)}"
        )
    number = float(exponent.reshape(-1)[0])
    size = abs(number)
    if size != _HALF and not (size.is_integer() and 0 < size <= _LARGEST):
        raise Refuse(f"the exponent must be whole, from 1 to {_LARGEST}, or a half; it is {number}")
    power = build.Sqrt(x) if size == _HALF else _power(build, x, int(size))
    return build.Reciprocal(power) if number < 0 else power


def _power(build: Builder, x: Value, number: int) -> Value:
    """Return a power above 0 by squaring."""
    if number == 1:
        return x
    half = _power(build, x, number // 2)
    square = build.Mul(half, half)
    return build.Mul(square, x) if number % 2 else square
