"""Between opset 11 and 10.

References: the operators of onnx/defs/**/old.cc at opset 10 and below. Opset 11 introduced
negative axes and negative indices; Clip and Pad had their bounds as attributes before.
"""

from __future__ import annotations

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
from graphfix.operators.table import REDUCTIONS
from graphfix.opset.adapting import KEEP, Adapted, adapter

_ONE_AXIS = (
    "ArgMax", "ArgMin", "Compress", "Concat", "Flatten", "Hardmax", "LogSoftmax", "Softmax",
    "Split",
)  # fmt: skip
_AXES = (*REDUCTIONS, "Squeeze")
_FLOATS = ("float16", "float32", "float64")


@adapter(_ONE_AXIS, 11, 10)
def axis_down(node: NodeView, build: Builder) -> Adapted:
    """A negative axis is counted from the front."""
    axis = node.attr("axis", 0)
    if axis >= 0:
        return KEEP
    value = next(v for v in node.inputs if v is not None)
    return respell(node, build, axis=axis + need_rank(value))


@adapter(_AXES, 11, 10)
def axes_down(node: NodeView, build: Builder) -> Adapted:
    """Negative axes are counted from the front."""
    axes = node.attr("axes", [])
    if all(axis >= 0 for axis in axes):
        return KEEP
    rank = need_rank(node.need(0))
    return respell(node, build, axes=sorted(axis % rank for axis in axes))


@adapter("Unsqueeze", 11, 10)
def unsqueeze_down(node: NodeView, build: Builder) -> Adapted:
    """Negative axes are counted from the front of the result."""
    axes = node.attr("axes", [])
    if all(axis >= 0 for axis in axes):
        return KEEP
    rank = need_rank(node.need(0)) + len(axes)
    return respell(node, build, axes=sorted(axis % rank for axis in axes))


@adapter("If", 11, 10)
def if_down(node: NodeView, build: Builder) -> Adapted:
    """Both branches have one shape: inference takes the results for what either of them says."""
    branches = [[Value(end) for end in graph.outputs] for _, graph in node.node.graphs()]
    for place, ends in enumerate(zip(*branches, strict=False)):
        first, second = ([value.rank, *map(value.dim, range(value.rank or 0))] for value in ends)
        if first != second:
            raise Refuse(f"the branches of an If give output {place} in different shapes")
    return KEEP


def _positive(indices: Value, size: Value | int | None, build: Builder) -> Value:
    """Count negative indices from the front; others stay."""
    known = build.const(indices)
    if known is not None and (known >= 0).all():
        return indices
    if size is None:
        raise Refuse("the size that negative indices count from must be known")
    kind = need_elem_type(indices)
    if isinstance(size, int):
        assert indices.dtype is not None
        if known is not None:
            return build.constant(np.where(known < 0, known + size, known).astype(indices.dtype))
        length = build.constant(np.array(size, dtype=indices.dtype))
    else:
        length = size if size.elem_type == kind else build.Cast(size, to=kind)
    zero = build.constant(np.zeros((), dtype=indices.dtype))
    return build.Where(build.Less(indices, zero), build.Add(indices, length), indices)


def _length(value: Value, axis: int, build: Builder) -> Value | int:
    known = value.dim(axis)
    if known is not None:
        return known
    number = build.constant(np.array(axis % need_rank(value), dtype=np.int64))
    return build.Gather(build.Shape(value), number, axis=0)


@adapter("Gather", 11, 10)
def gather_down(node: NodeView, build: Builder) -> Adapted:
    """Negative indices and axes are counted from the front."""
    data, indices = node.need(0), node.need(1)
    axis = node.attr("axis", 0)
    if axis < 0:
        axis += need_rank(data)
    known = build.const(indices)
    if known is not None and (known >= 0).all():
        return KEEP if axis == node.attr("axis", 0) else respell(node, build, axis=axis)
    positive = _positive(indices, _length(data, axis, build), build)
    return respell(node, build, axis=axis, indices=positive)


@adapter("ScatterElements", 11, 10)
def scatter_elements_down(node: NodeView, build: Builder) -> Adapted:
    """It was called Scatter, and took no negative indices."""
    data, indices, updates = node.need(0), node.need(1), node.need(2)
    axis = node.attr("axis", 0)
    if axis < 0:
        axis += need_rank(data)
    known = build.const(indices)
    if known is None or (known < 0).any():
        indices = _positive(indices, _length(data, axis, build), build)
    return build.Scatter(data, indices, updates, axis=axis)


@adapter("OneHot", 11, 10)
def one_hot_down(node: NodeView, build: Builder) -> Adapted:
    """Negative indices were outside of the range."""
    indices, depth = node.need(0), node.need(1)
    known = build.const(indices)
    if known is not None and (known >= 0).all():
        return KEEP
    need_elem_type(indices)
    if indices.type_name not in ("int32", "int64"):
        raise Refuse(f"the indices must be int32 or int64; they are {indices.type_name}")
    one = depth if depth.rank == 0 else build.Reshape(depth, np.zeros(0, dtype=np.int64))
    positive = _positive(indices, one, build)
    # One that is negative still lay before the range: so does the depth itself lie after it.
    length = one if one.elem_type == indices.elem_type else build.Cast(one, to=indices.elem_type)
    outside = build.Where(build.Less(positive, 0), length, positive)
    return respell(node, build, indices=outside)


@adapter("Clip", 11, 10)
def clip_down(node: NodeView, build: Builder) -> Adapted:
    """The bounds were attributes; those computed at run time go through Max and Min."""
    x, low, high = node.need(0), node.input(1), node.input(2)
    bounds = [build.const(value) for value in (low, high) if value is not None]
    known = [bound for bound in bounds if bound is not None]
    if len(known) == len(bounds) and x.type_name == "float32":
        given = {
            name: float(build.need_const(value, name).reshape(()))
            for name, value in (("min", low), ("max", high))
            if value is not None
        }
        return respell(node, build, drop=("min", "max"), **given)
    result = x
    if low is not None:
        result = build.Max(result, low)
    if high is not None:
        result = build.Min(result, high)
    return result


@adapter("Clip", 10, 11)
def clip_up(node: NodeView, build: Builder) -> Adapted:
    """The bounds became inputs of the dtype of the data."""
    x = node.need(0)
    need_elem_type(x)
    given = {
        name: build.constant(np.array(node.attr(name), dtype=x.dtype))
        for name in ("min", "max")
        if node.has(name)
    }
    return respell(node, build, drop=("min", "max"), **given)


@adapter("Pad", 11, 10)
def pad_down(node: NodeView, build: Builder) -> Adapted:
    """The pads and the value were attributes, and floats alone were padded."""
    need_elem_type(node.need(0))
    if node.need(0).type_name not in _FLOATS:
        raise Refuse(f"opset 10 pads no {node.need(0).type_name}")
    pads = axes_of(node.need(1), "pads", build)
    value = node.input(2)
    number = 0.0
    if value is not None:
        number = float(build.need_const(value, "constant_value").reshape(()))
        if np.isfinite(number) and float(np.float32(number)) != number:
            raise Refuse(
                f"constant_value must be a float32, as opset 10 has it; {number!r} is none"
            )
    return respell(node, build, drop=("pads", "constant_value"), pads=pads, value=number)


@adapter("Pad", 10, 11)
def pad_up(node: NodeView, build: Builder) -> Adapted:
    """The pads and the value became inputs."""
    x = node.need(0)
    need_elem_type(x)
    value = build.constant(np.array(node.attr("value", 0.0), dtype=x.dtype))
    return respell(node, build, drop=("value",), constant_value=value)


@adapter("TopK", 11, 10)
def top_k_down(node: NodeView, build: Builder) -> Adapted:
    """The largest were taken, sorted; the smallest are the largest of the negated values."""
    x = node.need(0)
    need_elem_type(x)
    if x.type_name not in _FLOATS:
        raise Refuse(f"opset 10 takes no TopK of {x.type_name}")
    axis = node.attr("axis", -1)
    changes: dict[str, int] = {} if axis >= 0 else {"axis": axis + need_rank(x)}
    drop = ("largest", "sorted")
    if node.attr("largest", 1):
        return respell(node, build, drop=drop, **changes)
    values, indices = respell(node, build, drop=drop, X=build.Neg(x), **changes)
    return (build.Neg(values) if values is not None else None, indices)


# Integers that opset 10 does not compare, and the type that holds them all and is compared.
_HELD: dict[str, int] = {
    **dict.fromkeys(("int8", "uint8", "int16", "uint16"), TensorProto.INT32),
    "uint32": TensorProto.INT64,
}


@adapter("Equal", 11, 10)
def equal_down(node: NodeView, build: Builder) -> Adapted:
    """Floats are equal where neither is less, nor NaN."""
    left, right = node.need(0), node.need(1)
    need_elem_type(left)
    if left.type_name in ("bool", "int32", "int64"):
        return KEEP
    if left.type_name in _HELD:
        return build.Equal(*(build.Cast(x, to=_HELD[left.type_name]) for x in (left, right)))
    if left.type_name not in (*_FLOATS, "uint64"):
        raise Refuse(f"opset 10 compares no {left.type_name}")
    apart = build.Or(build.Less(left, right), build.Greater(left, right))
    if left.type_name == "uint64":
        return build.Not(apart)
    strange = build.Or(build.IsNaN(left), build.IsNaN(right))
    return build.Not(build.Or(apart, strange))


@adapter("DepthToSpace", 11, 10)
def depth_to_space_down(node: NodeView, build: Builder) -> Adapted:
    """Column-row-depth order is spelled out."""
    if node.attr("mode", "DCR") == "DCR":
        return respell(node, build, drop=("mode",))
    x, block = node.need(0), int(node.attr("blocksize"))
    channels, height, width = x.dim(1), x.dim(2), x.dim(3)
    if channels is None or height is None or width is None:
        raise Refuse("channels, height and width of the input must be known")
    inner = channels // block**2
    split = build.Reshape(x, [0, inner, block, block, height, width])
    moved = build.Transpose(split, perm=[0, 1, 4, 2, 5, 3])
    return build.Reshape(moved, [0, inner, height * block, width * block])


@adapter("Resize", 11, 10)
def resize_down(node: NodeView, build: Builder) -> Adapted:
    """One way to map coordinates was there: asymmetric, and floor for nearest."""
    if node.attr("coordinate_transformation_mode", "half_pixel") != "asymmetric":
        raise Refuse("the coordinate mode must be asymmetric, the only one of opset 10; it is not")
    mode = node.attr("mode", "nearest")
    if mode not in ("nearest", "linear"):
        raise Refuse(f"the mode must be nearest or linear; opset 10 has no {mode!r}")
    if mode == "nearest" and node.attr("nearest_mode", "round_prefer_floor") != "floor":
        raise Refuse("nearest_mode must be floor, the only one of opset 10; it is not")
    scales = build.need_const(node.need(2), "scales")
    if not scales.size:
        raise Refuse("the node must give scales, which opset 10 takes; it gives sizes")
    return build.Resize(node.need(0), scales, mode=mode)


@adapter("Resize", 10, 11)
def resize_up(node: NodeView, build: Builder) -> Adapted:
    """The mapping that was the only one is asked for."""
    return build.Resize(
        node.need(0),
        np.zeros(0, dtype=np.float32),
        node.need(1),
        mode=node.attr("mode", "nearest"),
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )


@adapter("Gemm", 11, 10)
def gemm_down(node: NodeView, build: Builder) -> Adapted:
    """The summand had to be there."""
    if node.input(2) is not None:
        return KEEP
    x = node.need(0)
    need_elem_type(x)
    return respell(node, build, C=build.constant(np.zeros((), dtype=x.dtype)))


@adapter("Scan", 11, 10)
def scan_down(node: NodeView, build: Builder) -> Adapted:
    """Axes were counted from the front alone."""
    for name in ("scan_input_axes", "scan_output_axes"):
        if any(axis < 0 for axis in node.attr(name, [])):
            raise Refuse(f"{name} must not be negative at opset 10; it is")
    return KEEP


@adapter("Scatter", 10, 11)
def scatter_up(node: NodeView, build: Builder) -> Adapted:
    """It is called ScatterElements."""
    data, indices, updates = (node.need(at) for at in range(3))
    return build.ScatterElements(data, indices, updates, axis=node.attr("axis", 0))


@adapter("MaxUnpool", 11, 10)
def max_unpool_down(node: NodeView, build: Builder) -> Adapted:
    """Strides that were left out had no meaning; they are 1."""
    if node.has("strides"):
        return KEEP
    return respell(node, build, strides=[1] * len(node.attr("kernel_shape")))


@adapter("GatherElements", 11, 10)
def gather_elements_down(node: NodeView, build: Builder) -> Adapted:
    """Each index becomes the place in the flattened data, and Gather takes from there."""
    data, indices = node.need(0), node.need(1)
    rank = need_rank(data if indices.rank is None else indices)  # they have the same
    axis = node.attr("axis", 0) % rank
    if indices.elem_type != TensorProto.INT64:
        need_elem_type(indices)
        indices = build.Cast(indices, to=TensorProto.INT64)
    wanted = build.Shape(indices)
    # The coordinates of all entries, one row for each axis: those of ones that are not zero.
    one = TensorProto(dims=[1], data_type=TensorProto.INT64, int64_data=[1])
    rows = build.NonZero(build.ConstantOfShape(wanted, value=one))
    flat = build.Reshape(indices, [-1])
    place: Value | None = None
    for position in range(rank):
        size = _length(data, position, build)
        if position == axis:
            row = _positive(flat, size, build)
        else:
            row = build.Reshape(_entry(rows, position, build), [-1])
        if place is None:
            place = row
        else:
            scale = size if isinstance(size, Value) else np.array(size, dtype=np.int64)
            place = build.Add(build.Mul(place, scale), row)
    if place is None:
        raise Refuse("the data must have entries to gather; it is a scalar")
    return reshaped(build.Gather(build.Reshape(data, [-1]), place, axis=0), wanted, build)


def _entry(rows: Value, position: int, build: Builder) -> Value:
    return build.Gather(rows, build.constant(np.array([position], dtype=np.int64)), axis=0)
