"""Between opset 19 and 18.

References: Resize-19 and -18, Pad-19 and -18 in onnx/defs/tensor, Equal-19 and -13 in
onnx/defs/math, AveragePool-19 and -11 in onnx/defs/nn.
"""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    Builder,
    NodeView,
    Refuse,
    Value,
    deform_conv,
    need_elem_type,
    need_rank,
    reshaped,
    respell,
)
from graphfix.opset.adapters._pooling import averages
from graphfix.opset.adapters._run_time import size_along
from graphfix.opset.adapting import KEEP, Adapted, Differs, adapter

_END = np.array([2**63 - 1], dtype=np.int64)


def _resize(node: NodeView, build: Builder) -> Adapted:
    """Keep the node, but for align_corners with scales that give a fraction of a pixel.

    There the newer form divides by the size that the scale asks for before it is rounded. Sizes
    leave no room for two readings.
    """
    mode = node.attr("coordinate_transformation_mode", "half_pixel")
    if mode == "half_pixel_symmetric":
        raise Refuse("opset 18 has no half_pixel_symmetric")
    scales = node.input(2)
    if mode != "align_corners" or scales is None:
        return KEEP
    factors = build.const(scales)
    if factors is None:
        raise Differs(
            "the scales must be constant with align_corners; they are computed at run time"
        )
    if factors.size == 0:
        return KEEP
    axes = node.attr("axes", list(range(factors.size)))
    for axis, factor in zip(axes, factors.reshape(-1), strict=True):
        size = node.need(0).dim(axis)
        wanted = float(factor) * size if size is not None else float(factor)
        if wanted != np.floor(wanted):
            raise Differs("the scales must give whole pixels with align_corners")
    return KEEP


resize_down = adapter("Resize", 19, 18)(_resize)
resize_up = adapter("Resize", 18, 19)(_resize)


@adapter("QuantizeLinear", 19, 18)
def quantize_down(node: NodeView, build: Builder) -> Adapted:
    """float16 was not quantized: it is divided in float32, as onnxruntime does it in any case.

    The attribute that is new says something of results in float8 alone, which were none either.
    """
    x, scale = node.need(0), node.need(1)
    if need_elem_type(x) != TensorProto.FLOAT16:
        return respell(node, build, drop=["saturate"]) if node.has("saturate") else KEEP
    wide = [build.Cast(value, to=TensorProto.FLOAT) for value in (x, scale)]
    return respell(node, build, drop=["saturate"], x=wide[0], y_scale=wide[1])


@adapter("Equal", 19, 18)
def equal_down(node: NodeView, build: Builder) -> Adapted:
    """Texts were not compared: those are equal that Unique gives the same number."""
    left, right = node.need(0), node.need(1)
    if need_elem_type(left) != TensorProto.STRING:
        return KEEP
    flat = [build.Reshape(value, [-1]) for value in (left, right)]
    _, _, numbers = build.multi("Unique", build.Concat(*flat, axis=0), outputs=3)
    sides: list[Value] = []
    split = build.Shape(flat[0])
    parts = ((build.constant(np.array([0])), split), (split, build.constant(_END)))
    for value, (start, end) in zip((left, right), parts, strict=True):
        part = build.Slice(numbers, start, end, [0])
        sides.append(reshaped(part, build.Shape(value), build))
    return build.Equal(*sides)


@adapter("Pad", 19, 18)
def pad_down(node: NodeView, build: Builder) -> Adapted:
    """Wrapping is new: it takes the indices modulo the size of what negative pads leave."""
    if node.attr("mode", "constant") != "wrap":
        return KEEP
    x, given, chosen = node.need(0), node.need(1), node.input(3)
    rank = need_rank(x)
    if chosen is None:
        axes = list(range(rank))
    else:
        axes = [int(axis) % rank for axis in build.need_const(chosen, "axes").reshape(-1)]
    result = x
    for position, axis in enumerate(axes):
        before, after = (
            build.Gather(given, build.constant(np.array(at, dtype=np.int64)), axis=0)
            for at in (position, position + len(axes))
        )
        result = build.Gather(result, _wrapped(x, axis, before, after, build), axis=axis)
    return result


def _wrapped(x: Value, axis: int, before: Value, after: Value, build: Builder) -> Value:
    """Count around what negative pads leave of an axis: int64 [size of the result].

    onnxruntime cuts first (providers/cpu/tensor/pad.cc), as the other modes do.
    """
    zero, one = (build.constant(np.array(number, dtype=np.int64)) for number in (0, 1))
    size = build.Reshape(size_along(x, axis, build), np.zeros(0, dtype=np.int64))
    more, following = (build.Where(build.Less(pad, zero), zero, pad) for pad in (before, after))
    start, cut = build.Sub(more, before), build.Sub(following, after)
    left = build.Sub(build.Sub(size, start), cut)
    places = build.Range(build.Neg(more), build.Add(left, following), one)
    # A remainder of 0 would end the process; nothing is picked from an empty axis all the same.
    around = build.Mod(places, build.Where(build.Less(left, one), one, left))
    return build.Add(around, start)


@adapter("AveragePool", 19, 18)
def average_pool_down(node: NodeView, build: Builder) -> Adapted:
    """Dilations are new."""
    if all(step == 1 for step in node.attr("dilations", [])):
        return respell(node, build, drop=("dilations",))
    return averages(node, build)


@adapter("DeformConv", 19, 18)
def deform_conv_down(node: NodeView, build: Builder) -> Adapted:
    """It was not there: GridSample reads where the offsets point."""
    return deform_conv(node, build)
