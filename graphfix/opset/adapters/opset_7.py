"""From opset 6 to 7.

References: Add-6 and its kind, Gemm-6 and PRelu-6 in onnx/defs/math, And-1 and Equal-1 in
onnx/defs/logical, BatchNormalization-6 and Dropout-6 in onnx/defs/nn, Upsample-1 in
onnx/defs/tensor (old.cc).
"""

from __future__ import annotations

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank, respell
from graphfix.opset.adapting import KEEP, Adapted, adapter

_BROADCASTING = (
    "Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Greater", "Less",
)  # fmt: skip
_TRAINED = "is_test is 0: it is in its training form; set is_test to 1 where the file is to predict"


@adapter(_BROADCASTING, 6, 7)
def broadcasting_up(node: NodeView, build: Builder) -> Adapted:
    """The second operand lay at an axis of the first, at its last ones by default."""
    one, other = node.need(0), node.need(1)
    axis = node.attr("axis")
    if not node.attr("broadcast", 0):
        sizes = (one.static_shape, other.static_shape)
        if None not in sizes and sizes[0] != sizes[1]:
            raise Refuse("its operands have different sizes and broadcast is 0")
    elif axis is not None:
        other = _at(one, other, int(axis), build)
    return build.multi(node.op, one, other)


def _at(one: Value, other: Value, axis: int, build: Builder) -> Value:
    """Give the second operand axes of 1 after its own, so that it lies at an axis of the first."""
    if axis < 0:
        raise Refuse(f"axis is {axis}, and only axes from the front are defined")
    rank = need_rank(other)
    after = need_rank(one) - axis - rank
    if after < 0:
        raise Refuse(f"an operand of {rank} axes does not fit at axis {axis} of the other")
    return build.Unsqueeze(other, axes=[rank + at for at in range(after)]) if after else other


@adapter("Gemm", 6, 7)
def gemm_up(node: NodeView, build: Builder) -> Adapted:
    """Whether C is broadcast need not be said."""
    return respell(node, build, drop=("broadcast",))


@adapter("PRelu", 6, 7)
def prelu_up(node: NodeView, build: Builder) -> Adapted:
    """A slope for each channel lay at axis 1; since, it is broadcast from the last axis."""
    x, slope = node.need(0), node.need(1)
    if slope.static_shape is not None and slope.static_shape in ((), (1,)):
        return KEEP
    if need_rank(slope) != 1:
        raise Refuse(f"the slope has {need_rank(slope)} axes, and only one is defined")
    after = need_rank(x) - 2
    if after < 0:
        raise Refuse("the input has no axis of channels")
    if not after:
        return KEEP
    return build.PRelu(x, build.Unsqueeze(slope, axes=[1 + at for at in range(after)]))


@adapter(("BatchNormalization", "Dropout"), 6, 7)
def to_predict_up(node: NodeView, build: Builder) -> Adapted:
    """Training was the default; since, the number of outputs says it."""
    if not node.attr("is_test", 0):
        raise Refuse(_TRAINED)
    if len([value for value in node.outputs if value is not None]) > 1:
        raise Refuse("it gives more than its result, which only training uses")
    return respell(node, build, drop=("is_test",))


@adapter("Upsample", 6, 7)
def upsample_up(node: NodeView, build: Builder) -> Adapted:
    """The last two axes had a scale each."""
    if need_rank(node.need(0)) != 4:
        raise Refuse("Upsample of an opset below 7 takes four axes")
    scales = [1.0, 1.0, float(node.attr("height_scale")), float(node.attr("width_scale"))]
    mode = str(node.attr("mode", "nearest")).lower()
    if mode not in ("nearest", "bilinear"):
        raise Refuse(f"the mode {mode} is not defined")
    mode = "linear" if mode == "bilinear" else mode
    return build.Upsample(node.need(0), scales=scales, mode=mode)
