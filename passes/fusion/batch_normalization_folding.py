"""Fold BatchNormalization into the weights before it.

What it does: Multiplies the weights of Conv, ConvTranspose or Gemm by scale / sqrt(variance +
    epsilon), by output channel, and moves the rest into the bias. The numbers are computed in
    float64. It runs only when it is named.
Why engines need it: The normalization costs nothing then; engines for small chips have none, and
    quantization tools want weights as they are multiplied.
Before:
    c = Conv (x, w)
    y = BatchNormalization (c, scale, bias, mean, variance)
After: y = Conv (x, w2, b2)
When it refuses: Weights or parameters that are computed; normalization in training; a variance that
    makes the factor infinite. Where the output of the convolution has another reader it is no
    match.
Accuracy: Exact up to the rounding of the folded weights; approximate for float16 and bfloat16.
References: https://onnx.ai/onnx/operators/onnx__BatchNormalization.html
"""

import numpy as np

from graphfix.authoring import (
    NAMED,
    Array,
    Builder,
    Find,
    Match,
    NodeView,
    Refuse,
    Sought,
    Value,
    rewrite,
)

from ._fused import rounds_less

_PREDICTS = 7  # the opset from which on it does not train; before, is_test 0 is the default


@rewrite.pattern
def _normalized(
    find: Find,
    x: Sought,
    weights: Sought,
    bias: Sought,
    scale: Sought,
    offset: Sought,
    mean: Sought,
    variance: Sought,
) -> Sought:
    added = find.given(find.constant(bias))
    operands = (x, find.constant(weights), added)
    linear = find.either(
        *(
            find.node(op, *operands, label="linear", others=True)
            for op in ("Conv", "ConvTranspose", "Gemm")
        )
    )
    parameters = (find.constant(one) for one in (scale, offset, mean, variance))
    return find.node("BatchNormalization", linear, *parameters, label="norm", others=True)


@rewrite(_normalized, emits="Conv ConvTranspose Gemm", stage=NAMED)
def batch_normalization_folding(match: Match, build: Builder) -> Value:
    """Emit the node with other weights, see the module."""
    linear, norm, x = match.called("linear"), match.called("norm"), match["x"]
    if (
        norm.attr("training_mode", 0)
        or norm.attr("spatial", 1) != 1
        or not norm.attr("is_test", norm.opset >= _PREDICTS)
    ):
        raise Refuse(
            "the node must use its statistics, by channel; it is in training or not spatial"
        )
    rounds_less(build, x)
    scale, offset, mean, variance = (
        match.array(name).astype(np.float64) for name in ("scale", "offset", "mean", "variance")
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = scale / np.sqrt(variance + norm.attr("epsilon", 1e-5))
    if not np.isfinite(factor).all():
        raise Refuse(
            f"variance plus epsilon must be positive; the least variance is {variance.min():g}"
        )
    weights = match.array("weights")
    attributes = {name: linear.attr(name) for name in linear.attributes}
    before = match.array("bias").astype(np.float64) if match.has("bias") else np.zeros(1)
    if linear.op == "Gemm":
        before = before * linear.attr("beta", 1.0)
        attributes["beta"] = 1.0
    wide = weights.astype(np.float64) * _spread(factor, linear, weights)
    return build.node(
        linear.op,
        x,
        wide.astype(weights.dtype),
        ((before - mean) * factor + offset).astype(weights.dtype),
        **attributes,
    )


def _spread(factor: Array, linear: NodeView, weights: Array) -> Array:
    """Return the factor of each output channel in a shape that multiplies the weights."""
    if linear.op == "Conv":
        return factor.reshape(-1, *[1] * (weights.ndim - 1))
    if linear.op == "Gemm":
        return factor.reshape(-1, 1) if linear.attr("transB", 0) else factor.reshape(1, -1)
    groups = linear.attr("group", 1)
    spread = np.repeat(factor.reshape(groups, -1), len(weights) // groups, axis=0)
    return spread.reshape(*spread.shape, *[1] * (weights.ndim - 2))
