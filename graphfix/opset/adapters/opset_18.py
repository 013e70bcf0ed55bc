"""Between opset 18 and 17.

References: the Reduce operators in onnx/defs/reduction, Resize, Pad and Split in onnx/defs/tensor
(defs.cc and old.cc).
"""

from __future__ import annotations

import numpy as np

from graphfix.authoring import (
    Builder,
    NodeView,
    Refuse,
    Value,
    axes_of,
    is_optional,
    need_elem_type,
    need_rank,
    respell,
)
from graphfix.operators.table import REDUCTIONS
from graphfix.opset.adapters._aspect import BY_LENGTHS, keeping_aspect, keeps_aspect
from graphfix.opset.adapters._bits import bitwise, invert
from graphfix.opset.adapters._pooling import norms
from graphfix.opset.adapters._resizing import resized_everywhere
from graphfix.opset.adapters._run_time import equal_parts, pads, reduce
from graphfix.opset.adapting import Adapted, adapter

_REDUCE = tuple(op for op in REDUCTIONS if op != "ReduceSum")  # which changed in opset 13


@adapter(_REDUCE, 18, 17)
def reduce_down(node: NodeView, build: Builder) -> Adapted:
    """The axes were an attribute; no axes meant all of them, never none."""
    given = node.input(1)
    if given is not None and build.const(given) is None:
        return reduce(node, build)
    axes = axes_of(given, "axes", build) or None
    if axes is None and node.attr("noop_with_empty_axes", 0):
        return _without_axes(node, build)
    return respell(node, build, drop=("axes", "noop_with_empty_axes"), **_axes(axes))


def _axes(axes: list[int] | None) -> dict[str, list[int]]:
    return {} if axes is None else {"axes": axes}


def _without_axes(node: NodeView, build: Builder) -> Value:
    """Reducing over no axis leaves what the operator does to each element."""
    x = node.need(0)
    match node.op:
        case "ReduceL1" | "ReduceL2":
            return build.Abs(x)
        case "ReduceLogSum":
            return build.Log(x)
        case "ReduceSumSquare":
            return build.Mul(x, x)
        case _:
            return build.Identity(x)


@adapter(_REDUCE, 17, 18)
def reduce_up(node: NodeView, build: Builder) -> Adapted:
    """The axes became an input."""
    return respell(node, build, **_axes(node.attr("axes") or None), drop=_empty_axes(node))


def _empty_axes(node: NodeView) -> tuple[str, ...]:
    return () if node.attr("axes") else ("axes",)


@adapter("Pad", 18, 17)
def pad_down(node: NodeView, build: Builder) -> Adapted:
    """Without axes, the pads of every axis are written; those of the others are 0."""
    axes = node.input(3)
    if axes is None:
        return respell(node, build)
    chosen, known = build.const(axes), build.const(node.need(1))
    if chosen is None or known is None:
        spread = pads(node.need(0), node.need(1), axes, build)
        return respell(node, build, drop=("axes",), pads=spread)
    rank = need_rank(node.need(0))
    whole = np.zeros((2, rank), dtype=np.int64)
    for position, axis in enumerate(chosen.reshape(-1)):
        whole[:, axis] = known.reshape(2, -1)[:, position]
    return respell(node, build, drop=("axes",), pads=whole.reshape(-1))


@adapter("Split", 18, 17)
def split_down(node: NodeView, build: Builder) -> Adapted:
    """Sizes are written where num_outputs is; without either the parts are equal."""
    if node.input(1) is not None or not node.has("num_outputs"):
        return respell(node, build, drop=("num_outputs",))
    count = int(node.attr("num_outputs"))
    axis = node.attr("axis", 0)
    size = node.need(0).dim(axis)
    if size is None:
        sizes = equal_parts(node.need(0), axis, count, build)
        return respell(node, build, drop=("num_outputs",), split=sizes)
    part = -(-size // count)
    parts = [part] * (count - 1) + [size - part * (count - 1)]
    if parts[-1] < 0:
        raise Refuse(f"the size must make num_outputs = {count} parts; it is {size}")
    return respell(node, build, drop=("num_outputs",), split=parts)


@adapter("Split", 17, 18)
def split_up(node: NodeView, build: Builder) -> Adapted:
    """Equal parts are asked for by their number."""
    if node.input(1) is not None:
        return respell(node, build)
    return respell(node, build, num_outputs=len(node.outputs))


@adapter("Resize", 18, 17)
def resize_down(node: NodeView, build: Builder) -> Adapted:
    """The values of chosen axes are written for all of them; antialias has no counterpart."""
    if node.attr("antialias", 0) and node.attr("mode", "nearest") != "nearest":
        raise Refuse("opset 17 has no antialias")
    if keeps_aspect(node) and node.attr("coordinate_transformation_mode") not in BY_LENGTHS:
        return keeping_aspect(node, build)
    drop = ("antialias", "axes", "keep_aspect_ratio_policy")
    return respell(node, build, drop=drop, **resized_everywhere(node, build))


@adapter("MeanVarianceNormalization", 18, 17)
def mean_variance_down(node: NodeView, build: Builder) -> Adapted:
    """Spell it out: below 18, onnx cannot infer its body, and its checker rejects the model."""
    x = node.need(0)
    axes = node.attr("axes", [0, 2, 3])
    centred = build.Sub(x, build.ReduceMean(x, axes=axes, keepdims=1))
    variance = build.ReduceMean(build.Mul(centred, centred), axes=axes, keepdims=1)
    return build.Div(centred, build.Add(build.Sqrt(variance), 1e-9))


@adapter(("BitwiseAnd", "BitwiseOr", "BitwiseXor"), 18, 17)
def bitwise_down(node: NodeView, build: Builder) -> Adapted:
    """The bits are taken apart and put together again."""
    need_elem_type(node.need(0))
    return bitwise(node.op, node.need(0), node.need(1), build)


@adapter("BitwiseNot", 18, 17)
def bitwise_not_down(node: NodeView, build: Builder) -> Adapted:
    """In two's complement the inverse of x is -1 - x."""
    need_elem_type(node.need(0))
    return invert(node.need(0), build)


@adapter("OptionalHasElement", 18, 17)
def optional_has_element_down(node: NodeView, build: Builder) -> Adapted:
    """What is no optional was not taken: it is there, and what is left out is not."""
    value = node.input(0)
    if value is not None and is_optional(value):
        return respell(node, build)
    return build.constant(np.array(value is not None))


@adapter("OptionalGetElement", 18, 17)
def optional_get_element_down(node: NodeView, build: Builder) -> Adapted:
    """What is no optional was not taken: it is the element."""
    value = node.need(0)
    return respell(node, build) if is_optional(value) else build.Identity(value)


@adapter("LpPool", 18, 17)
def lp_pool_down(node: NodeView, build: Builder) -> Adapted:
    """Dilations and ceil_mode are new."""
    if all(step == 1 for step in node.attr("dilations", [])) and not node.attr("ceil_mode", 0):
        return respell(node, build, drop=("dilations", "ceil_mode"))
    return norms(node, build)
