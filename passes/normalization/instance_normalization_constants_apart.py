"""Give InstanceNormalization constants of its own.

What it does: Copies the scale and the bias, where other nodes read them as well.
Why engines need it: OpenCV 4 makes a layer of each constant of InstanceNormalization. What reads
    the constant further on finds it as a constant and as a layer, which is an input too many.
    PyTorch writes the normalizations of wav2vec2 so, whose constants are all ones and zeros.
Before:
    n = InstanceNormalization (x, s, b)
    y = LayerNormalization (z, s, b)
After:
    n = InstanceNormalization (x, s1, b1)      with copies of s and b
    y = LayerNormalization (z, s, b)
When it refuses: Scale and bias are not constant, or nothing else reads them.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__InstanceNormalization.html; opencv 4.10.0,
    modules/dnn/src/onnx/onnx_importer.cpp, parseInstanceNormalization
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite(
    "InstanceNormalization",
    removes="const:InstanceNormalization.shared",
    emits="InstanceNormalization",
    since=6,
    claims="nan inf",
)
def instance_normalization_constants_apart(node: NodeView, build: Builder) -> Value:
    """Copy what others read, see the module."""
    scale, bias = node.need(1), node.need(2)
    if len(scale.consumers) < 2 and len(bias.consumers) < 2:
        raise Refuse("another node must read the scale or the bias; none does")
    own = (
        build.constant(build.need_const(value, f"the {name}").copy())
        for value, name in ((scale, "scale"), (bias, "bias"))
    )
    epsilon = float(node.attr("epsilon", 1e-5))
    return build.InstanceNormalization(node.need(0), *own, epsilon=epsilon)
