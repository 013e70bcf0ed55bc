"""Order equal elements of what was quantized by their indices.

What it does: Takes the largest or smallest of keys: the size along the axis times the byte, less
    or more the index. No two keys are equal. The bytes at these indices are dequantized.
Why engines need it: OpenVINO gives equal elements of TopK in any order, where ONNX wants the lower
    index first. Of scores in 8 bits there are 256 at most.
Before: values, indices = TopK (DequantizeLinear (q, 0.1), k)
After:
    keys = Sub (Mul (Cast <to = 7> (q), 100), [0, 1, ..., 99])
    _, indices = TopK (keys, k)
    values = DequantizeLinear (GatherElements (q, indices), 0.1)
When it refuses: What is ordered is not moved there, by nodes of one result, from a DequantizeLinear
    of 8 bits with one constant scale between 2**-126 and 2**100, the rank is unknown, the size
    along the axis is known to be 2**22 or more, or the opset is below 11.
Accuracy: Exact: what is dequantized has the order of the bytes. Engines that compute int64 in 32
    bits hold all keys of a size along the axis below 2**22.
References: https://onnx.ai/onnx/operators/onnx__TopK.html; measured on OpenVINO 2026.4.1
"""

from onnx import TensorProto

from graphfix.authoring import (
    Builder,
    NodeView,
    Refuse,
    Value,
    along,
    counted,
    dequantizer_of,
    needed,
    rewrite,
    size_of,
    times,
)

_LEAST, _MOST, _LONGEST = 2.0**-126, 2.0**100, 1 << 22


@rewrite(
    "TopK",
    removes="form:TopK.ties",
    emits="*::*",
    since=11,
)
def topk_of_bytes_by_keys(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Make keys of steps and indices, see the module."""
    x, k = node.need(0), node.need(1)
    found, moves = dequantizer_of(x)
    maker = needed(found, f"{x.name} must come from bytes that are dequantized")
    scale, zero = build.need_const(maker.need(1), "the scale"), maker.input(2)
    none = None if zero is None else build.need_const(zero, "the zero point")
    if scale.size != 1 or not _LEAST <= float(scale.reshape(())) <= _MOST:
        raise Refuse("the scale must be one normal number; it is not")
    if none is not None and none.size != 1:
        raise Refuse("the zero point must be one number; there are several")
    rank = needed(x.rank, f"the rank of {x.name} must be known")
    axis = int(node.attr("axis", -1)) % rank
    bytes_moved = maker.need(0)
    for move in reversed(moves):
        if len(move.outputs) > 1:
            raise Refuse(f"what moves the bytes must have one result; {move.op} has several")
        (bytes_moved,) = build.multi(move.op, bytes_moved, *move.inputs[1:], **move.written())
    size = size_of(x, axis, build)
    if isinstance(size, int) and size >= _LONGEST:
        raise Refuse(f"the size along the axis must be below {_LONGEST}; it is {size}")
    scaled = times(build.Cast(bytes_moved, to=TensorProto.INT64), size, build)
    assert isinstance(scaled, Value)
    place = along(counted(x, axis, build), axis, rank, build)
    keys = build.Sub(scaled, place) if int(node.attr("largest", 1)) else build.Add(scaled, place)
    _, indices = build.multi("TopK", keys, k, outputs=2, **node.written())
    if node.output(0) is None:
        return (None, indices)
    chosen = build.GatherElements(bytes_moved, indices, axis=axis)
    operands = (None if one is None else build.constant(one.reshape(())) for one in (scale, none))
    values = build.DequantizeLinear(chosen, *operands)
    return (values, indices)[: len(node.outputs)]
