"""Group normalizations as PyTorch writes them, which OpenCV 5 computes as one layer.

Reshape, InstanceNormalization by ones and zeros, Reshape, Mul and Add of constants become a
GroupNormalization of what the first Reshape reads, whatever shapes the two give.
"""

from __future__ import annotations

import numpy as np

from graphfix.authoring.declaring import Unknown
from graphfix.engines.opencv.blocks import is_in_blocks
from graphfix.engines.opencv.rules.importing import is_known_at_import
from graphfix.engines.operands import only_reader
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView, Value

_LEAST, _IMAGE = 3, 4  # the ranks


@rule(
    "InstanceNormalization",
    feature="form:InstanceNormalization.of-groups",
    versions="opencv5.0..",
    severity=REJECT,
    text="scale must be a 1d tensor and match the channel of input; fastNormGroup: input.dims == 5"
    " && output.dims == 5",
    source="group_norm_layer.cpp:52, instance_norm_layer.cpp:58-66, fast_norm.cpp:363 (5.0.0);"
    " facts/asked.json, group-norm-*",
)
def group_norm_joined(node: NodeView, target: Target) -> Answer:
    """OpenCV fuses these nodes into a GroupNormalization that it does not support."""
    x, middle, result, factors = _joined(node)
    if x is None or middle is None or result is None:
        return False
    shape, normalized, groups = x.static_shape, middle.static_shape, node.need(1).dim(0)
    if shape is None or normalized is None or groups is None:
        return Unknown(f"the shape of {x.name}")
    if len(shape) < _LEAST or any(_size(one) != shape[1] for one in factors):
        return True
    if shape[1] % groups or (len(shape) != _IMAGE and is_in_blocks(x)):
        return True
    if not _gives(result, x):
        if result.static_shape is None:
            return Unknown(f"the shape of {result.name}")
        return Yes(severity=WRONG)
    adjacent = shape[0] != normalized[0]
    return (adjacent or not all(map(_is_per_channel, factors, [len(shape)] * 2))) and Yes(
        severity=WRONG
    )


def _joined(node: NodeView) -> tuple[Value | None, Value | None, Value | None, list[Value]]:
    """Return what is read, its other shape, the result's shape, and the factor and the summand."""
    none = None, None, None, list[Value]()
    middle, last = node.input(0), only_reader(node.output(0), "Reshape")
    first = None if middle is None else middle.producer
    if first is None or first.op != "Reshape" or last is None or last.input(0) != node.output(0):
        return none
    if only_reader(middle) is None or not (_is_all(node.input(1), 1) and _is_all(node.input(2), 0)):
        return none
    scaled = only_reader(last.output(0), "Mul")
    moved = None if scaled is None else only_reader(scaled.output(0), "Add")
    if scaled is None or moved is None:
        return none
    factors = [
        other
        for found, with_it in ((scaled, last.output(0)), (moved, scaled.output(0)))
        for other in found.inputs
        if other is not None and other != with_it and is_known_at_import(other)
    ]
    return (first.input(0), middle, last.output(0), factors) if len(factors) == 2 else none


def _is_all(value: Value | None, number: float) -> bool:
    array = None if value is None else value.array()
    return array is not None and bool(np.all(array == number))


def _size(value: Value) -> int:
    return int(np.prod(value.static_shape or ()))


def _is_per_channel(value: Value, rank: int) -> bool:
    """Say whether a constant has its values along the second axis of a tensor of some rank."""
    sizes = value.static_shape or ()
    padded = (*[1] * (rank - len(sizes)), *sizes)
    return all(size == 1 for axis, size in enumerate(padded) if axis != 1)


def _gives(result: Value, x: Value) -> bool:
    """Say whether a Reshape gives the shape that another began with."""
    maker = result.producer
    shape = None if maker is None else maker.input(1)
    asked = None if shape is None else shape.producer
    if asked is not None and asked.op == "Shape" and asked.input(0) == x:
        return True
    return result.static_shape is not None and result.static_shape == x.static_shape
