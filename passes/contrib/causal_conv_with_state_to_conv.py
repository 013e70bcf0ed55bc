"""Take CausalConvWithState apart.

What it does: Puts the state in front of the input, convolves each channel by itself, and keeps the
    end of what was convolved as the next state.
Why engines need it: It is an operator of onnxruntime for language models; other engines do not know
    it.
Before:
    y, s = com.microsoft.CausalConvWithState <activation = "silu"> (x, w, b, s0)      # x: [B, C, L]
After:
    all = Concat <axis = 2> (s0, x)
    y = Conv <group = C> (all, w, b), times its Sigmoid
    s = Slice (all, the last K - 1 of axis 2)
When it refuses: It has more than one axis next to the channels, a window of states, or what only
    the kernel for CUDA has; a rank, a dtype or a size of the weights is unknown.
Accuracy: Exact up to the order of summation; float16 is computed in float32.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.CausalConvWithState; the
    numbers were held to the kernel of onnxruntime 1.31
"""

from collections.abc import Sequence

import numpy as np

from graphfix.authoring import Builder, InferredType, NodeView, Refuse, Value, rewrite

from ._gelu import silu
from ._means import like, wide
from ._typing import need_float

_NAME = "com.microsoft::CausalConvWithState"
_STATE = 3
_CUDA = ("state_window", "state_update_capacity", "state_length", "input_channels")
_END = np.iinfo(np.int64).max


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """The shape of the input, and a state of the length that the kernel reaches back.

    ONNX infers less of what is written: it loses the names of sizes.
    """
    x, weights = node.input(0), node.input(1)
    if x is None or not x.elem_type:
        return (None,)
    if x.shape is None or len(x.shape) != 3 or weights is None or weights.rank != 3:
        return (InferredType(x.elem_type, x.shape), InferredType(x.elem_type))
    kernel, last = weights.dim(2), bool(node.attr("channels_last", 0))
    reach = (kernel - 1) * int(node.attr("dilation", 1)) if kernel else None
    batch, one, two = x.shape
    state = (batch, reach, two) if last else (batch, one, reach)
    return (InferredType(x.elem_type, x.shape), InferredType(x.elem_type, state))


@rewrite(_NAME, emits="Cast Concat Conv Mul Pad Sigmoid Slice Transpose", infer=infer)
def causal_conv_with_state_to_conv(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Convolve state and input, see the module."""
    x, weights, state = node.need(0), node.need(1), node.input(_STATE)
    need_float(x)
    channels, kernel = _need_one_axis(node)
    name = str(node.attr("activation", "none"))
    if name not in ("none", "silu", "swish"):
        raise Refuse(f"the activation must be none, silu or swish; it is {name}")
    dilation, last = int(node.attr("dilation", 1)), bool(node.attr("channels_last", 0))
    reach = (kernel - 1) * dilation

    def turned(value: Value) -> Value:
        return build.Transpose(value, perm=[0, 2, 1]) if last else value

    data = turned(wide(build, x))
    if state is None:
        joined = build.Pad(data, np.array([0, 0, reach, 0, 0, 0]))
    else:
        joined = build.Concat(turned(wide(build, state)), data, axis=2)
    bias = node.input(2)
    result = build.Conv(
        joined,
        wide(build, weights),
        None if bias is None else wide(build, bias),
        group=channels,
        kernel_shape=[kernel],
        dilations=[dilation],
    )
    if name != "none":
        result = silu(build, result)
    results: list[Value | None] = [like(build, x, turned(result)), None, None]
    if node.output(1) is not None:
        end = build.Slice(joined, starts=[-reach], ends=[_END], axes=[2])
        results[1] = like(build, x, turned(end))
    return tuple(results[: len(node.outputs)])


def _need_one_axis(node: NodeView) -> tuple[int, int]:
    """Return how many channels there are, and the length of the kernel.

    Raises:
        Refuse: There is not one axis next to the channels, or a size is not known.
    """
    x, weights = node.need(0), node.need(1)
    beyond = [name for name in _CUDA if int(node.attr(name, 0))]
    if x.rank != 3 or int(node.attr("ndim", 1)) != 1 or beyond:
        raise Refuse(
            f"there must be one axis next to the channels, and one state; {x.name} has "
            f"{x.rank or 'unknown'} dimensions{' and ' + beyond[0] if beyond else ''}"
        )
    channels, kernel = (weights.dim(0), weights.dim(2)) if weights.rank == 3 else (None, None)
    if not channels or not kernel or kernel < 2:
        raise Refuse("the sizes of the weights must be known, and reach back")
    return channels, kernel
