"""Add the bias of a ConvTranspose after it.

What it does: Leaves the bias out and adds it, as [1, channels, 1, ...], to the result.
Why engines need it: onnx2tf leaves the bias of a ConvTranspose of three dimensions out without a
    word.
Before: y = ConvTranspose (x, w, b)
After:
    t = ConvTranspose (x, w)
    y = Add (t, Reshape (b, [1, -1, 1, 1, 1]))
When it refuses: There is no bias; the rank is not known.
Accuracy: Exact up to the order of the sums.
References: measured on onnx2tf 1.29.24 and LiteRT 2.1.0
    https://onnx.ai/onnx/operators/onnx__ConvTranspose.html
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank, respell, rewrite


@rewrite("ConvTranspose", removes="form:ConvTranspose.bias", emits="Add ConvTranspose Reshape")
def conv_transpose_bias_to_add(node: NodeView, build: Builder) -> Value:
    """Leave it out and add it, see the module."""
    x, bias = node.need(0), node.input(2)
    if bias is None:
        raise Refuse("there must be a bias; there is none")
    shape = [1, -1, *[1] * (need_rank(x) - 2)]
    known = build.const(bias)
    (product,) = respell(node, build, drop=("B",))
    assert product is not None
    added = build.Reshape(bias, shape=shape) if known is None else known.reshape(shape)
    return build.Add(product, added)
