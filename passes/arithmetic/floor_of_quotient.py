"""Round a quotient to the nearest integer, and correct it by the remainder.

What it does: Floor and Ceil of a Div, or of the size of one, become its Round, less 1 where the
    remainder that is left has the other sign than the divisor.
Why engines need it: ncnn divides by multiplying with the reciprocal: 21 / 7 is as a little
    less than 3, and its Floor is 2. The nearest integer is 3, and the remainder shows that
    nothing is to be taken away.
Before: y = Floor (Div (a, b))
After:
    n = Round (Div (a, b))
    r = Sub (a, Mul (n, c))                        # c: b, or 1 where that is 0
    y = Sub (n, Relu (Neg (Mul (Sign (r), Sign (b)))))
When it refuses: The type is not float32, or no quotient is in front.
Accuracy: Approximate: exact for integers below 2^24, and wherever the quotient is not within
    its rounding of an integer.
References: https://onnx.ai/onnx/operators/onnx__Floor.html; asked of ncnn 1.0.20261020
"""

from onnx import TensorProto

from graphfix.authoring import APPROXIMATE, Builder, NodeView, Refuse, Value, need_type, rewrite


@rewrite(
    ["Ceil", "Floor"],
    removes="form:Ceil.quotient form:Floor.quotient",
    emits="Abs Add Div Mul Neg Relu Round Sign Sub",
    accuracy=APPROXIMATE,
    since=11,
)
def floor_of_quotient(node: NodeView, build: Builder) -> Value:
    """Round to the nearest and correct, see the module."""
    x = node.need(0)
    need_type(x, (TensorProto.FLOAT,))
    a, b = _divided(x, build)
    if node.op == "Floor":
        return _floor(build, a, b)
    return build.Neg(_floor(build, build.Neg(a), b))


def _divided(x: Value, build: Builder) -> tuple[Value, Value]:
    """Return dividend and divisor of what is computed by a Div, its size or its opposite."""
    maker = x.producer
    if maker is None or maker.domain or maker.op not in ("Abs", "Div", "Neg"):
        raise Refuse(f"{x.name} must be the output of Div; it is not")
    if maker.op == "Div":
        return maker.need(0), maker.need(1)
    a, b = _divided(maker.need(0), build)
    return (build.Neg(a), b) if maker.op == "Neg" else (build.Abs(a), build.Abs(b))


def _floor(build: Builder, a: Value, b: Value) -> Value:
    near, sign, known = build.Round(build.Div(a, b)), build.Sign(b), build.const(b)
    divisor = b
    if known is None or not known.all():
        divisor = build.Add(b, build.Sub(1.0, build.Abs(sign)))
    rest = build.Sub(a, build.Mul(near, divisor))
    return build.Sub(near, build.Relu(build.Neg(build.Mul(build.Sign(rest), sign))))
