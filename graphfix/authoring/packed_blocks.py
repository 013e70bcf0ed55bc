"""Numbers packed into bytes by blocks, as onnxruntime's weight-only quantization has them.

microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.MatMulNBits.
"""

from __future__ import annotations

import numpy as np

from graphfix.ir.views import Array

WIDTHS = (2, 4, 8)


def unpacked(data: Array, bits: int) -> Array:
    """Return the numbers of bytes, the lowest bits first: the last axis grows by 8 / bits."""
    if bits == 8:
        return data.astype(np.int32)
    each = 8 // bits
    shifts = np.arange(each, dtype=np.uint8) * np.uint8(bits)
    parts: Array = (data[..., None] >> shifts) & np.uint8((1 << bits) - 1)
    return np.asarray(parts.reshape(*data.shape[:-1], data.shape[-1] * each), np.int32)


def packed(numbers: Array, bits: int) -> Array:
    """Return the bytes of numbers, the lowest bits first: the last axis shrinks by 8 / bits."""
    if bits == 8:
        return numbers.astype(np.uint8)
    each = 8 // bits
    parts = numbers.astype(np.uint8).reshape(*numbers.shape[:-1], -1, each)
    shifts = np.arange(each, dtype=np.uint8) * np.uint8(bits)
    return np.asarray(np.bitwise_or.reduce(parts << shifts, axis=-1), np.uint8)


def steps_of(
    scales: Array,
    zeros: Array | None,
    *,
    bits: int,
    sizes: tuple[int, int, int],
    order: Array | None = None,
) -> tuple[Array, Array]:
    """Return the scale and the zero point of each weight, both float32 [N, K].

    Args:
        scales: One for each block, N * blocks.
        zeros: Zero points: packed bytes of each row, or numbers of the type of the scales; None
            for the middle.
        bits: Of a number.
        sizes: N, K and the size of a block.
        order: The block that each column belongs to, [K]; None where they are in order.

    Raises:
        ValueError: The sizes do not fit.
    """
    rows, columns, block = sizes
    count = -(-columns // block)
    factors = scales.reshape(rows, count).astype(np.float32)
    middle: Array = np.full((rows, count), 1 << (bits - 1), np.float32)
    if zeros is not None and zeros.dtype == np.uint8:
        middle = unpacked(zeros.reshape(rows, -1), bits)[:, :count].astype(np.float32)
    elif zeros is not None:
        middle = zeros.reshape(rows, count).astype(np.float32)
    places = np.arange(columns) // block if order is None else order.astype(np.int64)[:columns]
    return factors[:, places], middle[:, places]


def weights_of(
    data: Array,
    scales: Array,
    zeros: Array | None,
    *,
    bits: int,
    sizes: tuple[int, int, int],
    order: Array | None = None,
) -> Array:
    """Return the matrix [N, K] that packed weights stand for, float32.

    Args:
        data: Bytes, [N, blocks, block size * bits / 8].
        scales: As `steps_of` has them, which has the other arguments too.
        zeros: Zero points; None for the middle.
        bits: Of a number.
        sizes: N, K and the size of a block.
        order: The block that each column belongs to, [K]; None where they are in order.

    Raises:
        ValueError: The sizes do not fit.
    """
    rows, columns, block = sizes
    count = -(-columns // block)
    numbers = unpacked(data.reshape(rows, count, -1), bits).reshape(rows, count * block)
    factors, middle = steps_of(scales, zeros, bits=bits, sizes=sizes, order=order)
    return (numbers[:, :columns].astype(np.float32) - middle) * factors
