"""Replace group normalisation by Reshape, means and arithmetic.

What it does: Handles group_norm and native_group_norm. The channels of a group and their pixels
    become one axis, which is normalised; the result gets its shape back and is multiplied by the
    weight and added to the bias of each channel. Mean and reciprocal deviation of native_group_norm
    are given where they are used.
Why engines need it: ONNX had no group normalisation before opset 18, and older exporters wrote an
    ATen node.
Before: y = org.pytorch.aten.ATen <operator = "group_norm"> (x, 4, weight, bias, 1e-5, 1)
After:
    groups = Reshape (x, [0, 4, -1])
    away = Sub (groups, ReduceMean <axes = [2]> (groups))
    deviation = Sqrt (Add (ReduceMean <axes = [2]> (Mul (away, away)), 1e-5))
    normal = Reshape (Div (away, deviation), [2, 8, 5, 6])
    y = Add (Mul (normal, weight), bias)                  # weight, bias: [8, 1, 1]

    From opset 18 on, where the size of a group is not known, InstanceNormalization takes the
    place of the arithmetic.
When it refuses: The number of groups or epsilon is computed at run time, rank or dtype are unknown,
    the type is not floating point, or the channels are known not to divide into the groups.
Accuracy: Exact up to the order of summation; float16 and bfloat16 are computed in float32, as
    PyTorch does. The variance is the mean of squared distances from the mean, which does not
    cancel.
References: pytorch/pytorch aten/src/ATen/native/group_norm.cpp; microsoft/onnxruntime
    orttraining/orttraining/python/training/ortmodule (native_group_norm);
    https://onnx.ai/onnx/operators/onnx__InstanceNormalization.html
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, InferredType, NodeView, Refuse, Value
from graphfix.authoring.means import like, wide

from ._arguments import ArrayCall, call_of, replacing
from ._normalizing import centred, floating, scaled, shaped_like, trailing

NAMES = ("group_norm", "native_group_norm")
SCHEMAS = {
    "group_norm": ("input", "num_groups", "weight", "bias", "eps", "cudnn_enabled"),
    "native_group_norm": ("input", "weight", "bias", "N", "C", "HxW", "group", "eps"),
}
DEFAULT_EPS = 1e-5


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """The result is like the input; mean and deviation are [N, groups]."""
    x = node.input(0)
    if x is None or not x.elem_type:
        return (None,)
    groups = None if x.shape is None else (x.shape[0], None)
    stats = InferredType(x.elem_type, groups)
    return (InferredType(x.elem_type, x.shape), stats, stats)


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Normalise in float64."""
    second = inputs[1] if len(inputs) > 1 else None
    plain = "num_groups" in attributes or (second is not None and second.dtype.kind in "iu")
    call = ArrayCall(inputs, attributes, SCHEMAS["group_norm" if plain else "native_group_norm"])
    call.irrelevant("N", "C", "HxW")
    x = call.need("input")
    groups = int(call.number("num_groups" if plain else "group"))
    eps = float(call.number("eps", DEFAULT_EPS))
    work = x.astype(np.float64).reshape(x.shape[0], groups, -1)
    middle = work.mean(axis=2, keepdims=True)
    rate = 1 / np.sqrt(work.var(axis=2, keepdims=True) + eps)
    result = ((work - middle) * rate).reshape(x.shape)
    each = (-1,) + (1,) * (x.ndim - 2)
    weight, bias = call.array("weight"), call.array("bias")
    if weight is not None:
        result = result * weight.reshape(each)
    if bias is not None:
        result = result + bias.reshape(each)
    return (result.astype(x.dtype), middle[:, :, 0].astype(x.dtype), rate[:, :, 0].astype(x.dtype))


@replacing(
    NAMES,
    emits=(
        "Add Cast Div InstanceNormalization Mul ReduceMean ReduceSum Reciprocal Reshape Shape Sqrt "
        "Sub"
    ),
    infer=infer,
    evaluate=evaluate,
)
def aten_group_norm(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Normalise over groups, see the module."""
    call = call_of(node, SCHEMAS)
    call.irrelevant("N", "C", "HxW")  # the sizes of the input, once more
    x = call.need("input")
    rank = floating(x)
    groups = call.number("num_groups" if call.operator == "group_norm" else "group")
    if groups is None or groups < 1:
        raise Refuse("the number of groups must be given and positive")
    channels = x.dim(1) if rank >= 2 else None
    if rank < 2 or (channels is not None and channels % int(groups)):
        raise Refuse(
            f"the channels must be a multiple of the {groups} groups; there are {channels}"
        )
    eps = float(call.number("eps", DEFAULT_EPS))
    factors = [
        value and wide(build, value)
        for value in (trailing(build, call.tensor(name), rank) for name in ("weight", "bias"))
    ]
    source = wide(build, x)
    wanted = [value is not None and value.is_used for value in (node.output(1), node.output(2))]
    grouped = build.Reshape(source, _grouped(x, int(groups)))
    if build.opset >= 18 and grouped.dim(2) is None and not any(wanted):
        normal = build.InstanceNormalization(
            grouped,
            np.ones(int(groups), dtype=source.dtype),
            np.zeros(int(groups), dtype=source.dtype),
            epsilon=eps,
        )
        stats: list[Value] = []
    else:
        normal, middle, rate = centred(build, grouped, [2], eps)
        stats = [build.Reshape(v, [0, int(groups)]) for v in (middle, rate)]
    normal = shaped_like(build, normal, x)
    results = [like(build, x, value) for value in (scaled(build, normal, *factors), *stats)]
    kept: list[Value | None] = [results[0]]
    for position, used in enumerate(wanted, start=1):
        kept.append(results[position] if used else None)
    return tuple(kept[: len(node.outputs)])


def _grouped(x: Value, groups: int) -> list[int]:
    static = x.static_shape
    if static is None:
        return [0, groups, -1]
    rest = int(np.prod(static[1:], dtype=np.int64))
    return [static[0], groups, rest // groups]
