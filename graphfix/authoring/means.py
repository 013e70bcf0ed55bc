"""Means over axes, and numbers of few digits as float32, as normalizations compute them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from onnx import TensorProto

from graphfix.authoring.building import Builder
from graphfix.ir.views import Value

LOW_PRECISION = (TensorProto.FLOAT16, TensorProto.BFLOAT16)


def wide(build: Builder, x: Value) -> Value:
    """Return float16 and bfloat16 as float32; others as they are."""
    return build.Cast(x, to=TensorProto.FLOAT) if x.elem_type in LOW_PRECISION else x


def like(build: Builder, x: Value, value: Value) -> Value:
    """Return `value` in the type of `x`."""
    return value if value.elem_type == x.elem_type else build.Cast(value, to=x.elem_type)


def mean(build: Builder, x: Value, axes: Sequence[int]) -> Value:
    """Return the mean over axes that are kept, of size 1.

    From opset 18 on ReduceMean takes its axes as an input, which not every engine reads, while that
    of ReduceSum they do; where the sizes are known, a sum is divided instead.
    """
    sizes = [size for size in (x.dim(axis) for axis in axes) if size]
    if build.opset < 18 or len(sizes) < len(axes):
        return build.ReduceMean(x, axes=list(axes), keepdims=1)
    return build.Div(build.ReduceSum(x, axes=list(axes), keepdims=1), float(prod(sizes)))
