"""Replace the k-th smallest value by TopK.

What it does: The k-th smallest of n is the last of the n - k + 1 largest, or, where that is fewer,
    the negative of the last of the k largest negatives. TopK sorts them, Slice takes the last.
Why engines need it: ONNX has no such operator, and PyTorch's exporter writes an ATen node. Some
    parsers do not read the `largest` attribute of TopK, which is therefore not used.
Before: v, i = org.pytorch.aten.ATen <operator = "kthvalue"> (x, 2, 1, 0)    # x: float[2, 5]
After:
    t, _ = TopK <axis = 1> (Neg (x), [2])
    v = Neg (Squeeze <axes = [1]> (Slice <axis 1, from 1 to 2> (t)))
When it refuses: The index is used and the elements are integers (among equal values PyTorch does
    not say which one it is, and of integers many are equal), k or the axis is computed at run time,
    the rank, the type or the size of the axis is unknown, k does not fit, or the type is neither
    floating point nor an integer of at most 32 bits or int64 (integers need opset 11).
Accuracy: Exact: the result is one of the inputs; only the sign of a zero may be another. PyTorch
    sorts NaN after everything, engines differ in where they do. Approximate where the index of a
    float is used: of equal numbers another one may be given.
References: pytorch/pytorch aten/src/ATen/native/Sorting.cpp (kthvalue);
    https://onnx.ai/onnx/operators/onnx__TopK.html
"""

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    APPROXIMATE,
    Array,
    Builder,
    NodeView,
    Refuse,
    Value,
    need_type,
    needed,
)

from ._arguments import ArrayCall, call_of, replacing
from ._axes import FLOATS, widened

NAMES = ("kthvalue",)
SCHEMA = ("self", "k", "dim", "keepdim")
_SMALL = (TensorProto.INT8, TensorProto.INT16, TensorProto.UINT8, TensorProto.UINT16)
_INTEGERS = (TensorProto.INT32, TensorProto.INT64, *_SMALL)


def _read(node: NodeView) -> tuple[Value, int, int, bool]:
    """Return the input, k, the axis, and whether the axis is kept."""
    call = call_of(node, {"kthvalue": SCHEMA})
    x, k = call.need("self"), call.number("k")
    if not x.rank or not x.elem_type:
        raise Refuse(f"the rank of {x.name} must be at least 1 and its dtype known")
    axis = int(call.number("dim", -1))
    if k is None or not -x.rank <= axis < x.rank:
        raise Refuse(f"k must be given and the axis lie in rank {x.rank}; they are {k} and {axis}")
    return x, int(k), axis % x.rank, bool(call.number("keepdim", 0))


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Sort with numpy, which puts NaN after everything as PyTorch does."""
    call = ArrayCall(inputs, attributes, SCHEMA)
    x, axis = call.need("self"), int(call.number("dim", -1))
    place = [int(call.number("k", 1)) - 1]
    order = np.argsort(x, axis=axis, kind="stable")
    indices = np.take(order, place, axis=axis)
    values = np.take_along_axis(x, indices, axis=axis)
    if not call.number("keepdim", 0):
        values, indices = values.squeeze(axis), indices.squeeze(axis)
    return values, indices.astype(np.int64)


@replacing(NAMES, emits="Cast Neg Slice Squeeze TopK", evaluate=evaluate)
def aten_kthvalue(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Take the last of the largest, see the module."""
    x, k, axis, keep = _read(node)
    indices = node.output(1)
    placed = indices is not None and indices.is_used
    if placed and x.elem_type not in FLOATS:
        raise Refuse(
            "the place of the number is read: of equal integers PyTorch gives any place, so that "
            "no other formula gives the same"
        )
    size = needed(x.dim(axis), f"the size of axis {axis} must be known")
    if not 1 <= k <= size:
        raise Refuse(f"k must be from 1 to {size}; it is {k}")
    need_type(x, (*FLOATS, *_INTEGERS))
    if x.elem_type in _INTEGERS and build.opset < 11:
        raise Refuse(f"the opset must be at least 11 to sort integers; it is {build.opset}")
    negative = x.elem_type in FLOATS and k < size - k + 1
    count = k if negative else size - k + 1

    places: list[Value] = []

    def work(values: Value) -> Value:
        found, place = (
            one if keep else build.Squeeze(one, axes=[axis])
            for one in _last(build, build.Neg(values) if negative else values, count, axis)
        )
        places.append(place)
        return build.Neg(found) if negative else found

    if x.elem_type in _SMALL:
        result = build.Cast(work(build.Cast(x, to=TensorProto.INT32)), to=x.elem_type)
    else:
        result = widened(build, x, work)
    if not placed:
        return (result, *([None] * (len(node.outputs) - 1)))
    build.declare(APPROXIMATE, "of equal numbers another place may be given than PyTorch's")
    return result, places[0]


def _last(build: Builder, x: Value, count: int, axis: int) -> tuple[Value, Value]:
    """Return the least of the `count` largest along an axis, which is kept, and its place."""
    if build.opset < 10:
        largest, places = build.multi("TopK", x, outputs=2, k=count, axis=axis)
    else:
        largest, places = build.multi("TopK", x, [count], outputs=2, axis=axis)
    if count == 1:
        return largest, places
    value, place = (
        build.Slice(one, starts=[count - 1], ends=[count], axes=[axis]) for one in (largest, places)
    )
    return value, place
