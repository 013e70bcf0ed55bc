"""Turn operators with channels last into those of ONNX, with channels first.

What it does: Writes com.microsoft's NhwcConv, NhwcFusedConv and NhwcMaxPool as the operator of ONNX
    between two Transpose. The weights of NhwcConv have their channels last, too.
Why engines need it: They are operators of onnxruntime's optimiser (a model that it saved after
    optimisation has them); other engines do not know them.
Before: y = com.microsoft.NhwcConv <pads = [1, 1, 1, 1]> (x, w, b)
After:
    c = Conv <pads = [1, 1, 1, 1]> (Transpose (x), Transpose (w), b)
    y = Transpose <perm = [0, 2, 3, 1]> (c)
When it refuses: The rank of the input is unknown, the activation of NhwcFusedConv is none that
    onnxruntime fuses, or lacks a parameter.
Accuracy: Exact up to the order of summation; integers exactly.
References: microsoft/onnxruntime onnxruntime/core/graph/contrib_ops/nhwc_schema_defs.cc,
    onnxruntime/contrib_ops/cpu/nhwc_max_pool.cc, onnxruntime/core/providers/cpu/fp16/fp16_conv.cc,
    onnxruntime/python/tools/transformers/fusion_nhwc_conv.py
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    Array,
    Builder,
    InferredType,
    NodeView,
    Refuse,
    Value,
    need_rank,
    rewrite,
)

from . import _activation as activation

_CONV, _FUSED = "com.microsoft::NhwcConv", "com.microsoft::NhwcFusedConv"
_POOL = "com.microsoft::NhwcMaxPool"
_OWN = ("activation", "activation_params")
_INTEGERS = (TensorProto.INT8, TensorProto.UINT8)


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """The rank of the input.

    What is written for it reads the weights, which a look at types must not.
    """
    x = node.input(0)
    if x is None or not x.elem_type:
        return (None,)
    if x.rank is None:
        return (InferredType(x.elem_type),)
    return (InferredType(x.elem_type, (x.shape or (None,))[:1] + (None,) * (x.rank - 1)),)


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Convolve in float64, the weights with their channels last."""
    return _convolved(inputs, attributes, last=True)


def evaluate_fused(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Convolve, add and activate in float64, the weights with their channels first."""
    (total,) = _convolved(inputs, attributes, last=False)
    if len(inputs) > 3 and inputs[3] is not None:
        total = total + inputs[3]
    parameters = [float(number) for number in attributes.get("activation_params", ())]
    name = str(attributes.get("activation", ""))
    return (activation.evaluated(total, name, parameters),)


def _convolved(
    inputs: list[Array | None], attributes: dict[str, Any], *, last: bool
) -> tuple[Array, ...]:
    x, w = inputs[:2]
    assert x is not None  # the schema wants both
    assert w is not None
    weights = np.moveaxis(w, -1, 1) if last else w
    axes = x.ndim - 2
    kernel_shape = [int(n) for n in attributes.get("kernel_shape", ())]
    if kernel_shape and kernel_shape != list(weights.shape[2:]):
        raise NotImplementedError(f"kernel_shape {kernel_shape} is not that of the weights")
    pads = [int(n) for n in attributes.get("pads", ())] or [0] * 2 * axes
    strides = [int(n) for n in attributes.get("strides", ())] or [1] * axes
    steps = [int(n) for n in attributes.get("dilations", ())] or [1] * axes
    frame = [(0, 0), *zip(pads[:axes], pads[axes:], strict=True), (0, 0)]
    data = np.pad(x.astype(np.float64), frame)
    reach = [(k - 1) * s + 1 for k, s in zip(weights.shape[2:], steps, strict=True)]
    windows = np.lib.stride_tricks.sliding_window_view(data, reach, axis=tuple(range(1, axes + 1)))
    cut = (slice(None), *(slice(None, None, s) for s in strides), slice(None))
    windows = windows[(*cut, *(slice(None, None, s) for s in steps))]
    groups = int(attributes.get("group", 1))
    inner, outer = weights.shape[1], weights.shape[0] // groups
    parts: list[Array] = []
    for group in range(groups):
        part = np.take(windows, range(group * inner, (group + 1) * inner), axis=axes + 1)
        own = weights[group * outer : (group + 1) * outer]
        kernel = list(range(axes + 1, 2 * axes + 2))
        parts.append(np.tensordot(part, own, axes=(kernel, list(range(1, axes + 2)))))
    total = np.concatenate(parts, axis=-1)
    if len(inputs) > 2 and inputs[2] is not None:
        total = total + inputs[2]
    return (total.astype(x.dtype),)


@rewrite(_CONV, emits="Conv Transpose", infer=infer, evaluate=evaluate)
def nhwc_conv_to_conv(node: NodeView, build: Builder) -> Value:
    """Turn NhwcConv into Conv between two Transpose."""
    x, there, back = _turned(node, build)
    known = build.const(node.need(1))
    if known is None:
        weights = build.Transpose(node.need(1), perm=there)
    else:  # engines want weights that are constants
        weights = build.constant(np.ascontiguousarray(known.transpose(there)))
    result = build.Conv(x, weights, node.input(2), **_kept(node))
    return build.Transpose(result, perm=back)


@rewrite(
    _FUSED, emits=(activation.EMITS, "Add Conv Transpose"), infer=infer, evaluate=evaluate_fused
)
def nhwc_fused_conv_to_conv(node: NodeView, build: Builder) -> Value:
    """Turn NhwcFusedConv into Conv, Add and its activation between two Transpose."""
    x, _, back = _turned(node, build)
    result = build.Transpose(build.Conv(x, node.need(1), node.input(2), **_kept(node)), perm=back)
    other = node.input(3)
    if other is not None:
        result = build.Add(result, other)
    name = str(node.attr("activation", ""))
    return activation.activated(build, result, name, lambda names: activation.by_place(node, names))


@rewrite(_POOL, emits="Cast MaxPool Transpose", infer=infer)
def nhwc_max_pool_to_max_pool(node: NodeView, build: Builder) -> Value:
    """Turn NhwcMaxPool into MaxPool between two Transpose, of float32, which holds all bytes."""
    x = node.need(0)
    if x.elem_type not in _INTEGERS:
        raise Refuse(f"{x.name} must be of 8 bits; it is {x.type_name}")
    data, _, back = _turned(node, build, build.Cast(x, to=TensorProto.FLOAT))
    pooled = build.Transpose(build.MaxPool(data, **_kept(node)), perm=back)
    return build.Cast(pooled, to=x.elem_type)


def _turned(
    node: NodeView, build: Builder, data: Value | None = None
) -> tuple[Value, list[int], list[int]]:
    x = node.need(0)
    rank = need_rank(x, 3)
    there = [0, rank - 1, *range(1, rank - 1)]
    return (
        build.Transpose(x if data is None else data, perm=there),
        there,
        [0, *range(2, rank), 1],
    )


def _kept(node: NodeView) -> dict[str, Any]:
    return {name: node.attr(name) for name in node.attributes if name not in _OWN}
