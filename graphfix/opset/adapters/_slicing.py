"""Slice for opset 9, where bounds are attributes and each step is 1.

References: Slice-1 and -10 (onnx/defs/tensor/old.cc), Compress-9 (onnx/defs/tensor/defs.cc).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_elem_type

_INT64: int = TensorProto.INT64


def slice_of_known_size(
    x: Value, parts: Sequence[tuple[int, int, int, int]], build: Builder
) -> Value:
    """Take (axis, start, end, step) of a tensor whose sizes along these axes are known.

    Raises:
        Refuse: A size is not known.
    """
    result = x
    for axis, start, end, step in parts:
        size = x.dim(axis)
        if size is None:
            raise Refuse(
                "the sizes must be known for steps other than 1, which opset 9 does not have"
            )
        places = np.array(_places(start, end, step, size), dtype=np.int64)
        result = build.Gather(result, build.constant(places), axis=axis)
    return result


def _places(start: int, end: int, step: int, size: int) -> range:
    """Return the places that a slice takes; unlike numpy, a start before the first is the first."""
    start, end = (bound + size if bound < 0 else bound for bound in (start, end))
    if step > 0:
        return range(min(max(start, 0), size), min(max(end, 0), size), step)
    return range(min(max(start, 0), size - 1), min(max(end, -1), size - 1), step)


def slice_by_mask(
    node: NodeView, axes: Sequence[int], steps: Sequence[int], build: Builder
) -> Value:
    """Take what lies between bounds that are computed, one axis after the other.

    Raises:
        Refuse: A step is not 1, or a dtype is unknown.
    """
    if any(step != 1 for step in steps):
        raise Refuse(
            "the bounds must be constant for steps other than 1, which opset 9 does not have"
        )
    result = node.need(0)
    starts, ends = (_whole(node.need(position), build) for position in (1, 2))
    for place, axis in enumerate(axes):
        count = build.constant(np.array([axis], dtype=np.int64))
        size = build.Gather(build.Shape(result), count, axis=0)
        # The places of an axis: where a vector of ones is not zero.
        ones = build.ConstantOfShape(size, value=_one())
        places = build.Reshape(build.NonZero(ones), [-1])
        low, high = (
            _from_front(build.Slice(bound, starts=[place], ends=[place + 1], axes=[0]), size, build)
            for bound in (starts, ends)
        )
        inside = build.And(build.Not(build.Less(places, low)), build.Less(places, high))
        result = build.Compress(result, inside, axis=axis)
    return result


def _one() -> TensorProto:
    return TensorProto(dims=[1], data_type=_INT64, int64_data=[1])


def _whole(bounds: Value, build: Builder) -> Value:
    return bounds if need_elem_type(bounds) == _INT64 else build.Cast(bounds, to=_INT64)


def _from_front(bound: Value, size: Value, build: Builder) -> Value:
    """Count a negative bound from the front; it may stay negative, before the first place."""
    return build.Where(build.Less(bound, 0), build.Add(bound, size), bound)
