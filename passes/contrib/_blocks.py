"""Numbers packed into bytes by blocks, as onnxruntime's weight-only quantization has them."""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, NodeView, Refuse

WIDTHS = (2, 4, 8)


def unpacked(data: Array, bits: int) -> Array:
    """Return the numbers of bytes, the lowest bits first: the last axis grows by 8 / bits."""
    if bits == 8:
        return data.astype(np.int32)
    each = 8 // bits
    shifts = np.arange(each, dtype=np.uint8) * np.uint8(bits)
    parts: Array = (data[..., None] >> shifts) & np.uint8((1 << bits) - 1)
    return np.asarray(parts.reshape(*data.shape[:-1], data.shape[-1] * each), np.int32)


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
    numbers = unpacked(data.reshape(rows, count, -1), bits).reshape(rows, count * block)
    factors = scales.reshape(rows, count).astype(np.float32)
    middle: Array = np.full((rows, count), 1 << (bits - 1), np.float32)
    if zeros is not None and zeros.dtype == np.uint8:
        middle = unpacked(zeros.reshape(rows, -1), bits)[:, :count].astype(np.float32)
    elif zeros is not None:
        middle = zeros.reshape(rows, count).astype(np.float32)
    places = np.arange(count * block) // block if order is None else order.astype(np.int64)
    numbers = numbers[:, : len(places)].astype(np.float32)
    return ((numbers - middle[:, places]) * factors[:, places])[:, :columns]


def read_weights(
    node: NodeView,
    build: Builder,
    places: tuple[int, int, int | None, int | None],
    sizes: tuple[int, int, int],
    bits: int,
) -> Array:
    """Return the matrix [N, K] of a node.

    Args:
        node: The node.
        build: The builder.
        places: Where the bytes, the scales, the zero points and the order are.
        sizes: N, K and the size of a block.
        bits: Of a number.

    Raises:
        Refuse: They are computed at run time, or sizes do not fit.
    """
    if bits not in WIDTHS:
        raise Refuse(f"the weights must have 2, 4 or 8 bits; they have {bits}")
    if node.need(places[0]).elem_type != TensorProto.UINT8:
        raise Refuse(f"{node.need(places[0]).name} must be uint8; it is not")
    words = ("the weights", "the scales", "the zero points", "the order of the weights")
    given = [None if place is None else node.input(place) for place in places]
    found = [
        None if value is None else build.need_const(value, what)
        for value, what in zip(given, words, strict=True)
    ]
    data, scales, zeros, order = found
    if data is None or scales is None:
        raise Refuse("weights and scales must be given; one is not")
    try:
        return weights_of(data, scales, zeros, bits=bits, sizes=sizes, order=order)
    except (ValueError, IndexError) as error:
        raise Refuse(f"the sizes of weights and scales must fit; they do not: {error}") from None
