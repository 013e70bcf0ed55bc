"""Weights of 4 bits as DequantizeLinear reads them: of int4, with a scale for each block.

A byte of onnxruntime's packed weights holds two numbers q of 0 to 15, the first in its low half,
and so does one of an int4 tensor of ONNX: its matrix has the bytes of the packed weights but for
some bits. A weight is (q - z) * s, and is written as p * |s| - m * |s|, since TensorRT takes no
zero points and positive scales alone, and onnxruntime's quantizers write negative ones:

    s > 0: p = q - 8, m = z - 8        s < 0: p = 7 - q, m = 7 - z        s = 0: p = m = 0, |s| = 1
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value
from graphfix.authoring.packed_blocks import unpacked

EMITS = "DequantizeLinear Mul Slice Transpose"
# What the bits of q and of p differ by, twice in a byte.
_POSITIVE, _NEGATIVE = np.uint8(0x88), np.uint8(0x77)


class Int4(NamedTuple):
    """A matrix whose blocks lie along the last axis.

    Attributes:
        rows: How many rows there are.
        columns: How many columns, those that fill up the last block among them.
        block: The columns of a block.
        weights: p * |s|, floats, [rows, columns].
        shift: m * |s|, floats, [rows, blocks]; None where it is 0.
    """

    rows: int
    columns: int
    block: int
    weights: Value
    shift: Value | None


def int4_of(
    node: NodeView,
    build: Builder,
    places: tuple[int, int, int],
    sizes: tuple[int, int, int],
) -> Int4:
    """Return the weights of a node.

    Args:
        node: The node.
        build: The builder.
        places: Where the bytes, the scales and the zero points are.
        sizes: How many rows there are, how many blocks in each, and how many weights in each.

    Raises:
        Refuse: They are computed at run time or of other sizes, or do not have 4 bits.
    """
    bits, (rows, blocks, block) = int(node.attr("bits", 4)), sizes
    if bits != 4:
        raise Refuse(f"the weights must have 4 bits; they have {bits}")
    if block < 2 or block % 2:
        raise Refuse(f"the blocks must have an even number of weights; they have {block}")
    data, scales = node.need(places[0]), node.need(places[1])
    found = build.need_const(data, "the weights")
    if found.dtype != np.uint8 or found.size != rows * blocks * block // 2:
        raise Refuse(
            f"the weights must be {rows * blocks * block // 2} bytes; they are "
            f"{found.size} of {data.type_name}"
        )
    stored = build.need_const(scales, "the scales")
    if stored.size != rows * blocks or not np.isfinite(stored.astype(np.float32)).all():
        raise Refuse(f"there must be {rows * blocks} finite scales; there are others")
    signs = np.sign(stored.reshape(rows, blocks).astype(np.float32)).astype(np.int8)
    shape = (rows, blocks * block)
    packed = build.explain(
        build.constant(_int4_of_bytes(found.reshape(rows, blocks, -1), signs[:, :, None], shape)),
        lambda inner: _written(inner, data, scales, (blocks, block)),
    )
    kept = scales
    if scales.static_shape != (rows, blocks) or not (signs > 0).all():
        lengths = np.where(signs == 0, 1, np.abs(stored.reshape(rows, blocks)))
        kept = build.explain(
            build.constant(lengths.astype(stored.dtype)),
            lambda inner: _lengths(inner, scales, blocks),
        )
    weights = build.DequantizeLinear(packed, kept, axis=1, block_size=block)
    shift = _shift(build, node.input(places[2]), (scales, kept), signs)
    return Int4(rows, shape[1], block, weights, shift)


def _int4_of_bytes(packed: Array, signs: Array, shape: Sequence[int]) -> TensorProto:
    """Return p for the numbers q of bytes; `signs` of their scales, broadcast to the bytes."""
    made = packed ^ np.where(signs < 0, _NEGATIVE, _POSITIVE)
    if not signs.all():
        made &= np.where(signs == 0, np.uint8(0), np.uint8(255))
    return TensorProto(data_type=TensorProto.INT4, dims=shape, raw_data=made.tobytes())


def _written(build: Builder, data: Value, scales: Value, sizes: tuple[int, int]) -> Value:
    """Return p as it follows from bytes and scales, for a proof."""
    blocks, block = sizes
    numbers = build.Reshape(_halves(build, data), np.array([-1, blocks, block]))
    column = build.Unsqueeze(_as_rows(build, scales, blocks), axes=[2])
    flat = build.Reshape(_turned(build, numbers, column), np.array([-1, blocks * block]))
    return build.Cast(flat, to=TensorProto.INT4)


def _halves(build: Builder, data: Value) -> Value:
    """Return the numbers of bytes as int8, with a last axis of two."""
    four, fifteen = np.uint8(4), np.uint8(15)
    halves = (build.BitwiseAnd(data, fifteen), build.BitShift(data, four, direction="RIGHT"))
    last = [build.Unsqueeze(half, axes=[-1]) for half in halves]
    return build.Cast(build.Concat(*last, axis=-1), to=TensorProto.INT8)


def _as_rows(build: Builder, scales: Value, blocks: int) -> Value:
    return build.Reshape(build.Cast(scales, to=TensorProto.FLOAT), np.array([-1, blocks]))


def _turned(build: Builder, numbers: Value, scales: Value) -> Value:
    """Return n - 8 for a positive scale, 7 - n for a negative one and 0 for none."""
    zero = np.float32(0)
    up, down = build.Sub(numbers, np.int8(8)), build.Sub(np.int8(7), numbers)
    either = build.Where(build.Less(scales, zero), down, up)
    return build.Where(build.Equal(scales, zero), np.int8(0), either)


def _lengths(build: Builder, scales: Value, blocks: int) -> Value:
    """Return |s|, or 1 for 0, as it follows from scales, for a proof."""
    rows = _as_rows(build, scales, blocks)
    lengths = build.Where(build.Equal(rows, np.float32(0)), np.float32(1), build.Abs(rows))
    return build.Cast(lengths, to=scales.elem_type)


def _shift(
    build: Builder, zeros: Value | None, scales: tuple[Value, Value], signs: Array
) -> Value | None:
    """Return m * |s| for each block; None where it is 0."""
    given, lengths = scales
    rows, blocks = signs.shape
    numbers = None if zeros is None else build.need_const(zeros, "the zero points")
    row = -(-blocks // 2)
    if numbers is None:
        numbers = np.full((rows, row), 0x88, np.uint8)
    size = rows * (row if numbers.dtype == np.uint8 else blocks)
    if numbers.size != size:
        raise Refuse(f"there must be {size} zero points or bytes of them; there are {numbers.size}")
    packed = numbers.dtype == np.uint8
    middles = unpacked(numbers.reshape(rows, row), 4)[:, :blocks] if packed else numbers
    middles = middles.reshape(rows, blocks).astype(np.float32)
    middles = np.where(signs < 0, 7 - middles, middles - 8) * (signs != 0)
    if not middles.any():
        return None
    if not packed or blocks % 2:  # TensorRT takes no int4 with an odd last axis
        return build.Mul(build.constant(middles.astype(lengths.dtype)), lengths)
    halves = middles.astype(np.int8).reshape(rows, row, 2).view(np.uint8) & np.uint8(15)
    raw = (halves[:, :, 0] | halves[:, :, 1] << np.uint8(4)).tobytes()
    stored = build.explain(
        build.constant(TensorProto(data_type=TensorProto.INT4, dims=signs.shape, raw_data=raw)),
        lambda inner: _written_middles(inner, zeros, given, blocks),
    )
    one = build.constant(np.ones((), lengths.dtype))
    return build.Mul(build.DequantizeLinear(stored, one), lengths)


def _written_middles(build: Builder, zeros: Value | None, scales: Value, blocks: int) -> Value:
    """Return m as it follows from packed zero points and scales, for a proof."""
    rows = _as_rows(build, scales, blocks)
    numbers: Value = build.constant(np.int8(8))
    if zeros is not None:
        numbers = build.Reshape(_halves(build, zeros), np.array([-1, blocks]))
    return build.Cast(_turned(build, numbers, rows), to=TensorProto.INT4)
