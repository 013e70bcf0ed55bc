"""Between opset 13 and 12.

References: Softmax-13 and -11 in onnx/defs/math, Squeeze, Unsqueeze, Split and Resize in
onnx/defs/tensor, ReduceSum in onnx/defs/reduction, QuantizeLinear and DequantizeLinear in
onnx/defs/quantization (defs.cc and old.cc).
"""

from __future__ import annotations

from math import prod

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    Builder,
    NodeView,
    Refuse,
    Value,
    axes_of,
    need_elem_type,
    need_rank,
    reshaped,
    respell,
)
from graphfix.opset.adapting import KEEP, Adapted, adapter

_SOFTMAX = ("Softmax", "LogSoftmax", "Hardmax")
_AXES = ("Squeeze", "Unsqueeze")
_DEQUANTIZE = ("x_scale", "x_zero_point")
_EMPTY = np.zeros(0, dtype=np.float32)


@adapter(_SOFTMAX, 13, 12)
def softmax_down(node: NodeView, build: Builder) -> Adapted:
    """The older form goes over all axes from `axis` on, so `axis` is moved to the end."""
    axis = node.attr("axis", -1)
    if axis == -1:
        return respell(node, build, axis=-1)
    rank = need_rank(node.need(0))
    axis %= rank
    if axis == rank - 1:
        return respell(node, build, axis=axis)
    order = list(range(rank))
    order[axis], order[-1] = order[-1], order[axis]
    moved = build.Transpose(node.need(0), perm=order)
    return build.Transpose(build.multi(node.op, moved, axis=rank - 1)[0], perm=order)


@adapter(_SOFTMAX, 12, 13)
def softmax_up(node: NodeView, build: Builder) -> Adapted:
    """All axes from `axis` on are made one."""
    axis = node.attr("axis", 1)
    if axis == -1:
        return respell(node, build, axis=-1)
    x = node.need(0)
    rank = need_rank(x)
    if axis % rank == rank - 1:
        return respell(node, build, axis=axis)
    axis %= rank
    dims = [x.dim(place) for place in range(axis, rank)]
    known = [size for size in dims if size is not None]
    if 0 in known:
        return build.Identity(x)
    if len(known) == len(dims):  # a 0 copies the size of an axis in front, whatever it is
        front = [0] * axis
        joined = build.Reshape(x, [*front, prod(known)])
        return build.Reshape(build.multi(node.op, joined, axis=-1)[0], [*front, *known])
    flat = build.multi(node.op, build.Flatten(x, axis=axis), axis=-1)[0]
    return reshaped(flat, build.Shape(x), build)


@adapter(_AXES, 13, 12)
def axes_down(node: NodeView, build: Builder) -> Adapted:
    """The axes were an attribute."""
    axes = axes_of(node.input(1), "axes", build)
    return respell(node, build, drop=("axes",), **({} if axes is None else {"axes": axes}))


@adapter((*_AXES, "ReduceSum"), 12, 13)
def axes_up(node: NodeView, build: Builder) -> Adapted:
    """The axes became an input."""
    axes = node.attr("axes") or None
    return respell(node, build, drop=("axes",), **({} if axes is None else {"axes": axes}))


@adapter("ReduceSum", 13, 12)
def reduce_sum_down(node: NodeView, build: Builder) -> Adapted:
    """The axes were an attribute; no axes meant all of them, never none."""
    axes = axes_of(node.input(1), "axes", build) or None
    if axes is None and node.attr("noop_with_empty_axes", 0):
        return build.Identity(node.need(0))
    given = {} if axes is None else {"axes": axes}
    return respell(node, build, drop=("axes", "noop_with_empty_axes"), **given)


@adapter("Split", 13, 12)
def split_down(node: NodeView, build: Builder) -> Adapted:
    """The sizes were an attribute."""
    sizes = axes_of(node.input(1), "split", build)
    return respell(node, build, drop=("split",), **({} if sizes is None else {"split": sizes}))


@adapter("Split", 12, 13)
def split_up(node: NodeView, build: Builder) -> Adapted:
    """The sizes became an input."""
    return respell(node, build)


@adapter("Resize", 13, 12)
def resize_down(node: NodeView, build: Builder) -> Adapted:
    """The region and the scales had to be there, empty where they are not used."""
    roi, scales = node.input(1), node.input(2)
    if roi is None and node.attr("coordinate_transformation_mode") == "tf_crop_and_resize":
        raise Refuse("tf_crop_and_resize must have a region; it has none")
    return respell(
        node,
        build,
        roi=_EMPTY if roi is None else roi,
        scales=_EMPTY if scales is None else scales,
    )


@adapter("Resize", 12, 13)
def resize_up(node: NodeView, build: Builder) -> Adapted:
    """One way to map coordinates is gone; empty inputs are left out."""
    if node.attr("coordinate_transformation_mode") == "tf_half_pixel_for_nn":
        raise Refuse("opset 13 has no tf_half_pixel_for_nn")
    names = ("", "roi", "scales")
    empty = [names[i] for i in (1, 2) if (v := node.input(i)) is not None and v.dim(0) == 0]
    return respell(node, build, drop=empty)


def _is_single(scale: Value) -> bool:
    shape = scale.static_shape
    if shape is None:
        raise Refuse(f"the shape of {scale.name} must be known")
    return int(np.prod(shape)) == 1


def _scalar(value: Value, build: Builder) -> Value:
    if value.rank == 0:
        return value
    array = build.const(value)
    if array is not None:
        return build.constant(array.reshape(()))
    return build.Squeeze(value, axes=list(range(need_rank(value))))


def _along(value: Value, node: NodeView, build: Builder) -> Value:
    """Give a vector the rank of the input, with its values along `axis`."""
    rank = need_rank(node.need(0))
    axis = node.attr("axis", 1)
    if not -rank <= axis < rank:
        raise Refuse(f"the axis must lie in rank {rank}; it is {axis}")
    after = rank - axis % rank - 1
    return build.Unsqueeze(value, axes=list(range(1, after + 1))) if after else value


@adapter("DequantizeLinear", 13, 12)
def dequantize_down(node: NodeView, build: Builder) -> Adapted:
    """The older form has one scale; several along an axis are multiplied by hand."""
    x, scale, zero = node.need(0), node.need(1), node.input(2)
    if _is_single(scale):
        changes = {"x_scale": _scalar(scale, build)}
        if zero is not None:
            changes["x_zero_point"] = _scalar(zero, build)
        return respell(node, build, drop=("axis",), **changes)
    kind = need_elem_type(scale)
    need_elem_type(x)
    if x.type_name not in ("int8", "uint8"):
        raise Refuse(f"several scales must be for int8 or uint8; they are for {x.type_name}")
    wide = build.Cast(x, to=kind)
    if zero is not None:
        wide = build.Sub(wide, _along(build.Cast(zero, to=kind), node, build))
    return build.Mul(wide, _along(scale, node, build))


@adapter("QuantizeLinear", 13, 12)
def quantize_down(node: NodeView, build: Builder) -> Adapted:
    """The older form has one scale; with several along an axis the steps are spelled out."""
    x, scale, zero = node.need(0), node.need(1), node.input(2)
    if _is_single(scale):
        changes = {"y_scale": _scalar(scale, build)}
        if zero is not None:
            changes["y_zero_point"] = _scalar(zero, build)
        return respell(node, build, drop=("axis",), **changes)
    kind = need_elem_type(scale)
    wide = x if need_elem_type(x) == kind else build.Cast(x, to=kind)
    rounded = build.Round(build.Div(wide, _along(scale, node, build)))
    result: int = TensorProto.UINT8
    if zero is not None:
        result = need_elem_type(zero)
        rounded = build.Add(rounded, _along(build.Cast(zero, to=kind), node, build))
    low, high = (0.0, 255.0) if result == TensorProto.UINT8 else (-128.0, 127.0)
    dtype = scale.dtype
    assert dtype is not None
    bounds = [build.constant(np.array(bound, dtype=dtype)) for bound in (low, high)]
    return build.Cast(build.Clip(rounded, *bounds), to=result)


@adapter(("QuantizeLinear", "DequantizeLinear"), 12, 13)
def quantization_up(node: NodeView, build: Builder) -> Adapted:
    """A scale that is no scalar would be read as one per slice along `axis`."""
    if need_rank(node.need(1)) == 0:
        return KEEP
    names = ("y_scale", "y_zero_point") if node.op == "QuantizeLinear" else _DEQUANTIZE
    if not _is_single(node.need(1)):
        raise Refuse("there must be one scale, as in the older form; there are several")
    changes = {
        name: _scalar(value, build)
        for name, value in zip(names, (node.input(1), node.input(2)), strict=True)
        if value is not None
    }
    return respell(node, build, drop=(), **changes)
