"""Compute bitwise operators bit by bit.

What it does: Takes the bits of both numbers along a new last axis, combines them by products and
    sums, and puts the result together. The sign of an int32 is one more bit; int64 is taken apart
    into numbers of 16 bits first. BitwiseNot is -1 - x.
Why engines need it: No version of TensorRT has bitwise operators.
Before: y = BitwiseAnd (a, b)
After:
    p = [1, 2, 4, ...]
    bits = Mul (Mod (Div (Sub (a, Mod (a, p)), p), 2), Mod (Div (Sub (b, Mod (b, p)), p), 2))
    y = ReduceSum (Mul (bits, p), [-1])
When it refuses: The numbers are not int64, int32, int8, int16, uint8 or uint16, or a rank is
    unknown.
Accuracy: Exact: all steps are done in integers of 32 bits, or of 64.
References: https://onnx.ai/onnx/operators/onnx__BitwiseAnd.html; operators.md of onnx-tensorrt,
    release 8.6
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, combined_bits, rewrite

Array = np.ndarray[tuple[int], np.dtype[np.int32]]
# Element type -> bits next to the sign.
_BITS: dict[int, int] = {
    TensorProto.INT32: 31,
    TensorProto.INT16: 15,
    TensorProto.INT8: 7,
    TensorProto.UINT16: 16,
    TensorProto.UINT8: 8,
}
_OPERATORS = ("BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor")


@rewrite(
    _OPERATORS,
    removes=tuple(f"op:{op}" for op in _OPERATORS),
    emits="Add Cast Concat Div Less Mod Mul ReduceSum Slice Squeeze Sub Unsqueeze Where",
)
def bitwise_to_bits(node: NodeView, build: Builder) -> Value:
    """Combine bit by bit, see the module."""
    x = node.need(0)
    if x.elem_type == TensorProto.INT64:
        return _of_int64(node, build)
    bits = _BITS.get(x.elem_type)
    if bits is None:
        raise Refuse(f"{x.name} must be signed, or of at most 16 bits; it is {x.type_name}")
    signed = bits % 8 == 7
    if node.op == "BitwiseNot":
        highest = np.int32(-1 if signed else (1 << bits) - 1)
        return _narrow(build.Sub(build.constant(highest), _wide(x, build)), x, build)
    powers = np.left_shift(np.int32(1), np.arange(bits, dtype=np.int32)).astype(np.int32)
    both = [_wide(node.need(index), build) for index in (0, 1)]
    if any(value.rank is None for value in both):
        raise Refuse("the ranks of the operands must be known")
    apart = [_bits(value, powers, build) for value in both]
    mixed = build.Mul(_combined(node.op, apart[0], apart[1], build), powers)
    result = build.ReduceSum(mixed, axes=[-1], keepdims=0)
    if signed:
        signs = [build.Cast(build.Less(value, np.int32(0)), to=6) for value in both]
        sign = _combined(node.op, signs[0], signs[1], build)
        # The bit of the sign is worth -2^bits.
        result = build.Add(result, build.Mul(sign, np.int32(-(1 << bits))))
    return _narrow(result, x, build)


def _of_int64(node: NodeView, build: Builder) -> Value:
    x = node.need(0)
    if node.op == "BitwiseNot":
        return build.Sub(build.constant(np.array(-1)), x)
    other = node.need(1)
    if x.rank is None or other.rank is None:
        raise Refuse("the ranks of the operands must be known")
    return combined_bits(node.op.removeprefix("Bitwise"), x, other, build)


def _wide(value: Value, build: Builder) -> Value:
    plain = value.elem_type == TensorProto.INT32
    return value if plain else build.Cast(value, to=TensorProto.INT32)


def _narrow(value: Value, like: Value, build: Builder) -> Value:
    plain = like.elem_type == TensorProto.INT32
    return value if plain else build.Cast(value, to=like.elem_type)


def _bits(
    value: Value, powers: np.ndarray[tuple[int], np.dtype[np.int32]], build: Builder
) -> Value:
    """Return the bits next to the sign along a new last axis, as 0 and 1."""
    assert value.rank is not None
    apart = build.Unsqueeze(value, axes=[value.rank])
    whole = build.Sub(apart, build.Mod(apart, powers))  # a multiple, so that Div is exact
    return build.Mod(build.Div(whole, powers), np.int32(2))


def _combined(op: str, a: Value, b: Value, build: Builder) -> Value:
    product = build.Mul(a, b)
    if op == "BitwiseAnd":
        return product
    if op == "BitwiseXor":
        product = build.Mul(product, np.int32(2))
    return build.Sub(build.Add(a, b), product)
