"""Replace InstanceNormalization by means and arithmetic.

What it does: Each channel of each image is centred, divided by its deviation, multiplied by its
    scale and added to its bias.
Why engines need it: TensorRT 7.0 computes it with an epsilon of its own and ignores the one
    written. OpenCV 5 refuses it after a Conv that is not of images.
Before: y = InstanceNormalization <epsilon = 1e-5> (x, scale, bias)        x: [N, C, H, W]
After:
    away = Sub (x, ReduceMean <axes = {2, 3}> (x))
    deviation = Sqrt (Add (ReduceMean <axes = {2, 3}> (Mul (away, away)), 1e-5))
    y = Add (Mul (Div (away, deviation), scale), bias)                 scale, bias: [C, 1, 1]
When it refuses: The rank or the dtype is unknown; from opset 18 on, where ReduceMean takes its axes
    as an input, a size of the image too.
Accuracy: Exact up to the order of summation; float16 and bfloat16 are computed in float32.
References: https://onnx.ai/onnx/operators/onnx__InstanceNormalization.html; onnx/onnx-tensorrt 7.0
    builtin_op_importers.cpp, importInstanceNormalization
"""

from math import prod

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank, rewrite

_LOW = (TensorProto.FLOAT16, TensorProto.BFLOAT16)


@rewrite(
    "InstanceNormalization",
    removes=(
        "op:InstanceNormalization attr:InstanceNormalization.* const:InstanceNormalization.* "
        "rank:InstanceNormalization.* shape:InstanceNormalization.* dtype:InstanceNormalization.* "
        "form:InstanceNormalization.*"
    ),
    emits="Add Cast Div Mul ReduceMean ReduceSum Reshape Sqrt Sub",
)
def instance_normalization_to_arithmetic(node: NodeView, build: Builder) -> Value:
    """Normalise, see the module."""
    x = node.need(0)
    rank = need_rank(x, 3)
    if x.dtype is None:
        raise Refuse(f"the dtype of {x.name} must be known")
    axes = list(range(2, rank))
    sizes = [size for size in (x.dim(axis) for axis in axes) if size]
    if build.opset >= 18 and len(sizes) < len(axes):
        raise Refuse("the sizes that are normalised must be known and not 0")
    low = x.elem_type in _LOW

    def wide(value: Value) -> Value:
        return build.Cast(value, to=TensorProto.FLOAT) if low else value

    def mean(value: Value) -> Value:
        # From opset 18 on ReduceMean takes its axes as an input, which not every engine reads.
        if build.opset < 18:
            return build.ReduceMean(value, axes=axes, keepdims=1)
        return build.Div(build.ReduceSum(value, axes=axes, keepdims=1), float(prod(sizes)))

    def per_channel(value: Value) -> Value:
        known = build.const(value)
        shape = [-1, *[1] * len(axes)]
        return wide(
            build.Reshape(value, shape) if known is None else build.constant(known.reshape(shape))
        )

    data = wide(x)
    away = build.Sub(data, mean(data))
    epsilon = float(node.attr("epsilon", 1e-5))
    deviation = build.Sqrt(build.Add(mean(build.Mul(away, away)), epsilon))
    scaled = build.Mul(build.Div(away, deviation), per_channel(node.need(1)))
    result = build.Add(scaled, per_channel(node.need(2)))
    return build.Cast(result, to=x.elem_type) if low else result
