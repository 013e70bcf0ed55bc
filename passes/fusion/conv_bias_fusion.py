"""Fuse a constant that is added to a convolution into its bias.

What it does: Moves a constant for each channel, or one number, that is added to the output of Conv
    or ConvTranspose into the bias. It runs only when it is named.
Why engines need it: The sum costs nothing then; engines that fuse an activation into a convolution
    want nothing between them.
Before: y = Add (Conv (x, w), c)      # c: float[1, C, 1, 1]
After: y = Conv (x, w, c)            # c: float[C]
When it refuses: A number of channels that is not known; a constant that is not one value for each
    of them. Where the output of the convolution has another reader it is no match.
Accuracy: Exact up to rounding; approximate for float16 and bfloat16, which are rounded less often.
References: https://onnx.ai/onnx/operators/onnx__Conv.html
"""

import numpy as np

from graphfix.authoring import NAMED, Builder, Find, Match, Refuse, Sought, Value, rewrite

from ._fused import rounds_less
from ._shapes import by_channel


@rewrite.pattern
def _added(find: Find, x: Sought, weights: Sought, bias: Sought, constant: Sought) -> Sought:
    operands = (x, weights, find.given(find.constant(bias)))
    linear = find.either(
        *(find.node(op, *operands, label="linear", others=True) for op in ("Conv", "ConvTranspose"))
    )
    return linear + find.constant(constant)


@rewrite(_added, emits="Conv ConvTranspose", stage=NAMED)
def conv_bias_fusion(match: Match, build: Builder) -> Value:
    """Emit the node with its bias, see the module."""
    linear = match.called("linear")
    y = linear.output(0)
    rounds_less(build, match["x"])
    if y is None or y.rank is None:
        raise Refuse("the rank must be known")
    array = match.array("constant")
    if array.size == 1 and array.ndim <= y.rank and y.dim(1) is not None:
        added = np.full(y.dim(1) or 0, array.reshape(()))
    else:
        added = by_channel(match, "constant", y)
    if match.has("bias"):
        added = added + match.array("bias")
    attributes = {name: linear.attr(name) for name in linear.attributes}
    return build.node(linear.op, match["x"], match["weights"], added, **attributes)
