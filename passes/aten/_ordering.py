"""Sorting along an axis by TopK, ties in their order, without its `largest` attribute."""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, Refuse, Value, need_type, size_of

from ._axes import FLOATS, LOW_PRECISION

SMALL = (
    TensorProto.BOOL,
    TensorProto.INT8,
    TensorProto.INT16,
    TensorProto.UINT8,
    TensorProto.UINT16,
)
ORDERED = (*FLOATS, TensorProto.INT32, TensorProto.INT64, *SMALL)


def widened_to_sort(build: Builder, x: Value) -> Value:
    """Return `x` in a type that TopK takes and that is ordered alike.

    Raises:
        Refuse: There is none, or the opset is too old for it.
    """
    need_type(x, ORDERED)
    if x.elem_type in SMALL:
        x = build.Cast(x, to=TensorProto.INT32)
    elif x.elem_type in LOW_PRECISION:
        x = build.Cast(x, to=TensorProto.FLOAT)
    if x.elem_type not in FLOATS and build.opset < 11:
        raise Refuse(f"the opset must be at least 11 to sort integers; it is {build.opset}")
    return x


def reversed_order(build: Builder, x: Value) -> Value:
    """Return numbers whose order is the other way round; again gives what they were.

    -1 - x of an integer never overflows.
    """
    if x.elem_type in FLOATS:
        return build.Neg(x)
    return build.Sub(build.constant(np.array(-1, x.dtype)), x)


def order(build: Builder, x: Value, axis: int, *, descending: bool) -> tuple[Value, Value]:
    """Sort along an axis.

    Args:
        build: The builder.
        x: Numbers of rank 1 or more, of a type that TopK takes.
        axis: The axis, not negative.
        descending: Whether the largest comes first.

    Returns:
        What is sorted, and the places where it was, int64; of equal numbers the first is first.
    """
    keys = x if descending else reversed_order(build, x)
    size = size_of(x, axis, build)
    if build.opset < 10:
        if not isinstance(size, int):
            raise Refuse(
                f"the opset must be at least 10 for a size that is open; it is {build.opset}"
            )
        values, places = build.multi("TopK", keys, outputs=2, k=size, axis=axis)
    else:
        count = [size] if isinstance(size, int) else build.Reshape(size, [1])
        values, places = build.multi("TopK", keys, count, outputs=2, axis=axis)
    return (values if descending else reversed_order(build, values)), places


def as_before(build: Builder, y: Value, x: Value) -> Value:
    """Return `y` in the type of `x`."""
    return y if y.elem_type == x.elem_type else build.Cast(y, to=x.elem_type)


def zeros_like(build: Builder, x: Value) -> Value:
    """Return zeros in the shape of `x`: what PyTorch gives as place of a scalar."""
    static = x.static_shape
    if static is not None:
        return build.constant(np.zeros(static, np.int64))
    return build.ConstantOfShape(build.Shape(x), value=np.zeros(1, np.int64))
