"""Make normally distributed numbers of evenly distributed ones.

What it does: Draws two numbers between 0 and 1 for each element, and takes from them what Box and
    Muller do: sqrt(-2 log u) cos(2 pi v).
Why engines need it: TensorRT has importers for RandomNormal and RandomNormalLike from 8.5 on, and
    for RandomUniform and RandomUniformLike from 7.0 on.
Before: y = RandomNormalLike <mean = m, scale = s> (x)
After:
    u = RandomUniformLike <low = 2^-24, high = 1> (x)
    v = RandomUniformLike (x)
    y = m + s * Sqrt (-2 * Log (u)) * Cos (2 pi * v)
When it refuses: The dtype is unknown or no floating point number.
Accuracy: Approximate as a distribution: numbers beyond 5.8 standard deviations, of which one in
    10^8 is, do not occur. No two runs give the same values, before or after.
References: https://onnx.ai/onnx/operators/onnx__RandomNormalLike.html; builtin_op_importers.cpp:
    importRandomNormalLike of onnx-tensorrt, release 8.5; Box and Muller, "A Note on the Generation
    of Random Normal Deviates", 1958
"""

import math
from typing import Any

from onnx import TensorProto

from graphfix.authoring import APPROXIMATE, Builder, NodeView, Refuse, Value, rewrite

_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)


@rewrite(
    ("RandomNormal", "RandomNormalLike"),
    removes="op:RandomNormal op:RandomNormalLike",
    emits="Add Cast Cos Log Mul RandomUniform RandomUniformLike Sqrt",
    accuracy=APPROXIMATE,
)
def random_normal_to_uniform(node: NodeView, build: Builder) -> Value:
    """Draw by the method of Box and Muller, see the module."""
    like = node.input(0)
    given = int(node.attr("dtype", 0))
    elem_type = given or (like.elem_type if like is not None else int(TensorProto.FLOAT))
    if elem_type not in _FLOATS:
        raise Refuse("the dtype must be known and floating point")
    build.declare(APPROXIMATE, "nothing beyond 5.8 standard deviations is drawn")
    length = build.Sqrt(build.Mul(build.Log(_even(node, 0, 2.0**-24, build)), -2))
    angle = build.Mul(_even(node, 1, 0.0, build), 2 * math.pi)
    drawn = build.Mul(length, build.Cos(angle))
    scale, mean = float(node.attr("scale", 1.0)), float(node.attr("mean", 0.0))
    if scale != 1:
        drawn = build.Mul(drawn, scale)
    if mean:
        drawn = build.Add(drawn, mean)
    return drawn if elem_type == TensorProto.FLOAT else build.Cast(drawn, to=elem_type)


def _even(node: NodeView, number: int, low: float, build: Builder) -> Value:
    attributes: dict[str, Any] = {"dtype": TensorProto.FLOAT, "low": low, "high": 1.0}
    if node.has("seed"):
        # With one seed both draws would be the same values.
        attributes["seed"] = float(node.attr("seed")) + number
    if node.op == "RandomNormal":
        return build.RandomUniform(shape=list(node.attr("shape")), **attributes)
    return build.RandomUniformLike(node.need(0), **attributes)
