"""Replace Floor and Ceil by Round and a comparison.

What it does: Takes 1 from the nearest integer where it is above the number for Floor; Ceil is
    the opposite of the Floor of the opposite. Which way halves go makes no difference.
Why engines need it: onnxruntime has a kernel of Floor and Ceil for float64 from 1.14 on, and of
    Round always.
Before: y = Floor (x)                    # float64
After:
    r = Round (x)
    y = Sub (r, Cast <to = 11> (Less (x, r)))
When it refuses: The dtype is not a floating point type.
Accuracy: Exact: no step rounds. Infinities, NaN and the sign of a zero stay.
References: https://onnx.ai/onnx/operators/onnx__Floor.html,
    https://onnx.ai/onnx/operators/onnx__Ceil.html; graphfix/engines/onnxruntime/profiles, measured
    on the wheels
"""

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Value, need_type, rewrite

_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)


@rewrite(
    "Floor Ceil",
    removes="op:Floor dtype:Floor.* op:Ceil dtype:Ceil.*",
    emits="Cast Less Neg Round Sub",
    claims="nan inf",
    since=11,
)
def floor_to_round(node: NodeView, build: Builder) -> Value:
    """Correct what Round gives, see the module."""
    x = node.need(0)
    need_type(x, _FLOATS)
    return _floor(build, x) if node.op == "Floor" else build.Neg(_floor(build, build.Neg(x)))


def _floor(build: Builder, x: Value) -> Value:
    near = build.Round(x)
    return build.Sub(near, build.Cast(build.Less(x, near), to=x.elem_type))
