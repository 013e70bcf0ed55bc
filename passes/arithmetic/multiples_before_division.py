"""Take the remainder away before integers are divided.

What it does: The dividend of a Div of integers is lessened by what is left over, so that the
    division comes out even: its result is the same whether an engine truncates or rounds.
Why engines need it: OpenVINO computes a quotient in the float kernel of the product or the
    reduction in front of it, and rounds it to the nearest integer: 7 / 2 is 4. That the dividend is
    read twice then keeps the two apart, too.
Before: y = Div (a, b)                         # int64
After: y = Div (Sub (a, Mod <fmod = 1> (a, b)), b)
When it refuses: The elements are no integers, or the remainder is taken away already.
Accuracy: Exact: Mod with fmod gives what truncation leaves over, with the sign of the dividend, so
    that the difference is smaller and no sum overflows.
References: https://onnx.ai/onnx/operators/onnx__Div.html, onnx__Mod.html; asked of OpenVINO
    2026.4.1
"""

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_type, rewrite

_INTEGERS = tuple(
    getattr(TensorProto, f"{sign}INT{bits}") for sign in ("", "U") for bits in (8, 16, 32, 64)
)


@rewrite("Div", removes="form:Div.integers-after-kernel", emits="Div Mod Sub", since=10)
def multiples_before_division(node: NodeView, build: Builder) -> Value:
    """Subtract the remainder, see the module."""
    a, b = node.need(0), node.need(1)
    need_type(a, _INTEGERS)
    if _is_multiple(a, b):
        raise Refuse(f"{a.name} must leave something over; the remainder is taken away already")
    return build.Div(build.Sub(a, build.Mod(a, b, fmod=1)), b)


def _is_multiple(a: Value, b: Value) -> bool:
    """Say whether a dividend is a difference with what is left over of it."""
    difference = a.producer
    if difference is None or difference.domain or difference.op != "Sub":
        return False
    rest = difference.need(1).producer
    return rest is not None and rest.op == "Mod" and rest.inputs == (difference.need(0), b)
