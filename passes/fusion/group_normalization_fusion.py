"""Fuse a reshaped InstanceNormalization into GroupNormalization.

What it does: Replaces Reshape, InstanceNormalization with ones and zeros, Reshape back, and the
    scale and bias by channel that follow, by GroupNormalization. It runs only when it is named.
Why engines need it: Exporters write group normalization in this way; one kernel needs neither
    copies nor the sizes that the Reshapes freeze.
Before:
    i = InstanceNormalization (Reshape (x, [0, 2, -1]), [1, 1], [0, 0])
    y = Add (Mul (Reshape (i, [2, 4, 8, 8]), scale), bias)
After: y = GroupNormalization <num_groups = 2> (x, scale, bias)
When it refuses: Below opset 21, where scale and bias are by group; channels that are not known or
    do not divide; a second Reshape to another shape than that of x; a scale or bias that is not one
    constant number for each channel.
Accuracy: Exact up to rounding; approximate for float16 and bfloat16, which are rounded less often.
References: https://onnx.ai/onnx/operators/onnx__GroupNormalization.html; what PyTorch 2.13 writes
    with either exporter
"""

from graphfix.authoring import NAMED, Array, Builder, Find, Match, Refuse, Sought, Value, rewrite

from ._fused import fused
from ._shapes import by_channel, channels_of


def _ones(array: Array) -> bool:
    return bool((array == 1).all())


def _zeros(array: Array) -> bool:
    return not array.any()


def _grouped(array: Array) -> bool:
    return array.shape == (3,) and bool(array[0] == 0 and array[1] > 0 and array[2] == -1)


@rewrite.pattern
def _normalized(
    find: Find,
    x: Sought,
    grouping: Sought,
    ones: Sought,
    zeros: Sought,
    eps: Sought,
    back: Sought,
    scale: Sought,
    bias: Sought,
) -> Sought:
    groups = find.Reshape(x, find.constant(grouping, _grouped, "[0, groups, -1]"))
    inner = find.InstanceNormalization(
        groups,
        find.constant(ones, _ones, "ones"),
        find.constant(zeros, _zeros, "zeros"),
        epsilon=eps,
    )
    shape = find.either(find.shared(find.Shape(x)), find.constant(back))
    return find.Reshape(inner, shape) * find.constant(scale) + find.constant(bias)


@rewrite(_normalized, emits="GroupNormalization", stage=NAMED)
def group_normalization_fusion(match: Match, build: Builder) -> Value:
    """Emit one node, see the module."""
    x = match["x"]
    groups = int(match.array("grouping")[1])
    channels = channels_of(x)
    if channels % groups:
        raise Refuse(
            f"the channels must be a multiple of the {groups} groups; there are {channels}"
        )
    if match.has("back") and tuple(match.array("back").tolist()) != x.static_shape:
        raise Refuse(
            f"the second Reshape must restore the shape {x.static_shape};"
            f" it makes {match.array('back').tolist()}"
        )
    scale, bias = by_channel(match, "scale", x), by_channel(match, "bias", x)
    epsilon = match.attribute("eps", 1e-5)
    op = "GroupNormalization"
    return fused(build, op, 21, x, scale, bias, num_groups=groups, epsilon=epsilon)
