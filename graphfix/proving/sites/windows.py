"""Axes along which windows slide, and those that are scaled by a whole factor.

A window does the same wherever it is. How they are at the end depends on the remainder of the
size by their stride alone, once there is room for some that see no end.
"""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from graphfix.proving.inputs.uses import attribute_of, int_attribute
from graphfix.proving.sites.axes import Axis, Dim, Dims, Made, Unknown, bind, fixed

# Places that see no end, at least.
_ROOM = 3
# What maps a place of the result to one of the input without a look at how many there are.
_LOCAL = ("half_pixel", "asymmetric", "half_pixel_symmetric")


def slid(node: onnx.NodeProto, sides: Sequence[Dim], kernel: Sequence[int], made: Made) -> Dims:
    """Return the dims of what windows make.

    Args:
        node: The node, with the attributes that Conv and the poolings have.
        sides: The dims along which they slide.
        kernel: Their sizes.
        made: What windows made of which axis before; grows.
    """
    count = len(sides)
    strides = _ints(node, "strides", [1] * count)
    dilations = _ints(node, "dilations", [1] * count)
    pads = _ints(node, "pads", [0] * 2 * count)
    named = attribute_of(node, "auto_pad")
    automatic = named.s.decode() if named is not None else "NOTSET"
    ceil = int_attribute(node, "ceil_mode", 0)
    if not len(strides) == len(dilations) == len(kernel) == count or len(pads) != 2 * count:
        raise Unknown
    result: Dims = []
    for place, side in enumerate(sides):
        stride, extent = strides[place], dilations[place] * (kernel[place] - 1) + 1
        form: tuple[object, ...]
        if automatic.startswith("SAME"):
            form, kept = ("same",), stride == 1
        else:
            padded = pads[place] + pads[place + count] if automatic == "NOTSET" else 0
            form, kept = ("padded", padded - extent, ceil), stride == 1 and padded == extent - 1
        result.append(_moved(side, stride, extent, form, made, kept=kept))
    return result


def _moved(
    side: Dim, stride: int, extent: int, form: tuple[object, ...], made: Made, *, kept: bool
) -> Dim:
    if isinstance(side, int):
        # A fixed side gives a fixed one; 1 may be given by more.
        return fixed()
    axis, reach = side.root(), extent + _ROOM
    if kept:
        axis.least = max(axis.least, reach)
        return axis
    key = (id(axis), stride, *form)
    if key not in made:
        made[key] = Axis(None, axis.bound, _ROOM, source=axis, stride=stride, reach=reach)
    made[key].reach = max(made[key].reach, reach)
    return made[key]


def scaled(node: onnx.NodeProto, x: Dims, scales: Sequence[float], made: Made) -> Dims:
    """Return the dims of what is scaled by constants, one for each axis or for the named ones."""
    mode, how = (attribute_of(node, name) for name in ("mode", "coordinate_transformation_mode"))
    local = node.op_type == "Upsample" or how is None or how.s.decode() in _LOCAL
    if int_attribute(node, "antialias", 0):
        local = False
    named = attribute_of(node, "axes")
    axes = [axis % len(x) for axis in named.ints] if named is not None else list(range(len(x)))
    if len(axes) != len(scales):
        raise Unknown
    reach = _ROOM if mode is None or mode.s.decode() != "cubic" else 2 * _ROOM
    for axis, scale in zip(axes, scales, strict=True):
        if scale != 1:
            x[axis] = _scaled_one(x[axis], scale, reach, made) if local else _bound(x[axis])
    return x


def _bound(dim: Dim) -> Dim:
    bind([dim])
    return fixed()


def _scaled_one(dim: Dim, scale: float, reach: int, made: Made) -> Dim:
    factor, stride = round(scale), round(1 / scale) if scale > 0 else 0
    whole = scale == factor if scale > 1 else stride > 0 and scale == 1 / stride
    if isinstance(dim, int) or not whole:
        return _bound(dim)
    axis = dim.root()
    key = (id(axis), "scaled", scale)
    if key not in made:
        made[key] = Axis(None, axis.bound, _ROOM, source=axis, reach=reach)
        made[key].factor, made[key].stride = (factor, 1) if scale > 1 else (1, stride)
    return made[key]


def _ints(node: onnx.NodeProto, name: str, default: list[int]) -> list[int]:
    named = attribute_of(node, name)
    return list(named.ints) if named is not None and named.ints else default
