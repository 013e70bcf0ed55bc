"""Replace differences of neighbours by Slice and Sub.

What it does: Takes the n-th differences along one axis: n times the slice without the first element
    minus the slice without the last. What is to be put in front and after is concatenated first.
Why engines need it: ONNX has no such operator, and PyTorch's exporter writes an ATen node.
Before: y = org.pytorch.aten.ATen <operator = "diff"> (x, 1, 1)        # x: float[2, 5]
After: y = Sub (Slice <axis 1, from 1> (x), Slice <axis 1, to 4> (x))
When it refuses: The number of differences or the axis is computed at run time, the rank or the type
    is unknown, the type is bool (PyTorch takes the exclusive or) or one that Sub of the opset does
    not know, or more differences are wanted than the axis is known to have elements.
Accuracy: Exact, bit by bit: the same subtractions in the same order. float16 and bfloat16 round as
    the engine's Sub does.
References: pytorch/pytorch aten/src/ATen/native/ReduceOps.cpp (diff);
    https://onnx.ai/onnx/operators/onnx__Sub.html
"""

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, need_rank, needed

from ._arguments import ArrayCall, Call, call_of, replacing

NAMES = ("diff",)
SCHEMA = ("self", "n", "dim", "prepend", "append")
MOST = 64
_OLDEST: dict[int, int] = {
    TensorProto.FLOAT: 7,
    TensorProto.DOUBLE: 7,
    TensorProto.FLOAT16: 7,
    TensorProto.INT32: 7,
    TensorProto.INT64: 7,
    TensorProto.UINT32: 7,
    TensorProto.UINT64: 7,
    TensorProto.BFLOAT16: 13,
    TensorProto.INT8: 14,
    TensorProto.INT16: 14,
    TensorProto.UINT8: 14,
    TensorProto.UINT16: 14,
}


def _read(call: Call) -> tuple[Value, int, int]:
    """Return the input, the number of differences and the axis."""
    x = call.need("self")
    rank = need_rank(x)
    times, axis = int(call.number("n", 1)), int(call.number("dim", -1))
    if times < 0 or not -rank <= axis < rank:
        raise Refuse(
            f"n must be at least 0 and the axis lie in rank {rank}; they are {times} and {axis}"
        )
    return x, times, axis % rank


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Use numpy."""
    call = ArrayCall(inputs, attributes, SCHEMA)
    x, axis = call.need("self"), int(call.number("dim", -1))
    times = int(call.number("n", 1))
    pieces = [call.array("prepend"), x, call.array("append")]
    whole = np.concatenate([piece for piece in pieces if piece is not None], axis=axis)
    return (np.asarray(np.diff(whole, n=times, axis=axis)) if times else x,)


@replacing(NAMES, emits="Concat Slice Sub", evaluate=evaluate)
def aten_diff(node: NodeView, build: Builder) -> Value:
    """Subtract slices, see the module."""
    call = call_of(node, {"diff": SCHEMA})
    x, times, axis = _read(call)
    if build.opset < _OLDEST.get(x.elem_type, 1 << 30):
        raise Refuse(f"Sub must take {x.type_name}; that of opset {build.opset} does not")
    if times == 0:
        return x
    if times > MOST:
        raise Refuse(f"n must be at most {MOST}; it is {times}")
    pieces = [call.tensor("prepend"), x, call.tensor("append")]
    there = [piece for piece in pieces if piece is not None]
    if any(p.elem_type != x.elem_type or p.rank != x.rank for p in there):
        raise Refuse("what is put in front or after must have the rank and dtype of the input")
    whole = build.Concat(*there, axis=axis) if len(there) > 1 else x
    size = needed(whole.dim(axis), f"the size of axis {axis} must be known")
    if size <= times:
        raise Refuse(f"the size must be above n; it is {size}, and n is {times}")
    for done in range(times):
        length = size - done
        later = build.Slice(whole, starts=[1], ends=[length], axes=[axis])
        whole = build.Sub(later, build.Slice(whole, starts=[0], ends=[length - 1], axes=[axis]))
    return whole
