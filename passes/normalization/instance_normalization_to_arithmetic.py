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

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank, rewrite
from graphfix.authoring.means import like, mean, wide


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
    if build.opset >= 18 and not all(x.dim(axis) for axis in axes):
        raise Refuse("the sizes that are normalised must be known and not 0")

    def per_channel(value: Value) -> Value:
        known = build.const(value)
        shape = [-1, *[1] * len(axes)]
        shaped = (
            build.Reshape(value, shape) if known is None else build.constant(known.reshape(shape))
        )
        return wide(build, shaped)

    data = wide(build, x)
    away = build.Sub(data, mean(build, data, axes))
    epsilon = float(node.attr("epsilon", 1e-5))
    deviation = build.Sqrt(build.Add(mean(build, build.Mul(away, away), axes), epsilon))
    scaled = build.Mul(build.Div(away, deviation), per_channel(node.need(1)))
    result = build.Add(scaled, per_channel(node.need(2)))
    return like(build, x, result)
