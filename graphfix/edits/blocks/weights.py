"""Weights of few bits by blocks as floats, and floats as the same blocks again.

(number - zero point) * scale of its block, in float32, as onnxruntime's kernels have it and
`graphfix.passes.contrib` and `graphfix.passes.quantization` write it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import NamedTuple

import msgspec
import numpy as np
from onnx import ModelProto, TensorProto

from graphfix.authoring.packed_blocks import WIDTHS, packed, steps_of, unpacked
from graphfix.edits.arrays import Array
from graphfix.ir.protos import copied
from graphfix.ir.storage.weights import dtype_of

KEY = "graphfix_blocks"  # of the metadata: the weights that were in blocks
PRODUCT, LOOKUP, PLAIN = "MatMulNBits", "GatherBlockQuantized", "DequantizeLinear"
_AT_ONCE = 1 << 22  # weights that are computed with at a time
# Attributes and what they are where a node does not say.
_KNOWN: dict[str, dict[str, int]] = {
    PRODUCT: {"N": 0, "K": 0, "bits": 4, "block_size": 0},
    LOOKUP: {"bits": 4, "block_size": 128, "gather_axis": 0, "quantize_axis": 1},
    PLAIN: {"axis": 1, "block_size": 0},
}


class Noted(msgspec.Struct, frozen=True, omit_defaults=True):
    """What it takes to put a weight into its blocks again.

    Attributes:
        weight: The float tensor.
        op: The operator that read the blocks.
        data: The tensor of few bits.
        type: Its element type, as reports name it.
        dims: Its shape.
        scales: The tensor with a scale for each block.
        zeros: That of zero points; empty for none.
        order: That of the block of each column; empty for columns in order.
        bias: That of the bias of a product; empty for none.
        node: The DequantizeLinear; empty for other operators, whose nodes stay.
        attributes: Those of the operator.
        filler: The number that fills the last block of a row up.
        rest: The tensor with bytes that the floats do not give: places and bytes [n, 2]; empty
            for none.
        digest: Of the bytes of the numbers.
    """

    weight: str
    op: str
    data: str
    type: str
    dims: tuple[int, ...]
    scales: str
    zeros: str = ""
    order: str = ""
    bias: str = ""
    node: str = ""
    attributes: dict[str, int] = {}
    filler: int = 0
    rest: str = ""
    digest: str = ""

    def attribute(self, name: str) -> int:
        """Return an attribute, given or not."""
        return self.attributes.get(name, _KNOWN[self.op][name])

    @property
    def is_packed(self) -> bool:
        """Whether bytes hold several numbers, along the last axis."""
        return self.op != PLAIN and self.type == "uint8"


class Blocks(NamedTuple):
    """Scales, zero points and order of the blocks of a weight."""

    scales: Array
    zeros: Array | None = None
    order: Array | None = None


class _Part(NamedTuple):
    """Some rows: their place, the scale and zero point of each weight, and the range of numbers."""

    rows: slice
    factors: Array
    middle: Array
    least: int
    most: int


def notes_of(proto: ModelProto) -> list[Noted]:
    """Return what the metadata says; nothing where it says nothing that can be read."""
    text = next((entry.value for entry in proto.metadata_props if entry.key == KEY), "[]")
    try:
        return msgspec.json.decode(text, type=list[Noted])
    except msgspec.MsgspecError:
        return []


def note(proto: ModelProto, noted: list[Noted]) -> None:
    """Write it into the metadata of a model, in place of what is there."""
    kept = [copied(entry) for entry in proto.metadata_props if entry.key != KEY]
    proto.ClearField("metadata_props")
    proto.metadata_props.extend(kept)
    if noted:
        proto.metadata_props.add(key=KEY, value=msgspec.json.encode(noted).decode())


def as_floats(noted: Noted, data: Array, blocks: Blocks) -> Array:
    """Return the weights, of the type of the scales; those of a product are float32 [K, N].

    Raises:
        ValueError: The sizes do not fit.
    """
    kind = np.dtype(np.float32) if noted.op == PRODUCT else blocks.scales.dtype
    numbers = _rows_of(noted, data)
    result: Array | None = None
    for part in _parts(noted, blocks):
        given = numbers[part.rows]
        if noted.is_packed:
            given = unpacked(given, _bits(noted))[:, : part.factors.shape[1]]
        found = _floats(given, part).astype(kind)
        if result is None:
            result = np.empty((*numbers.shape[:1], *found.shape[1:]), kind)
            result = result.T.copy() if noted.op == PRODUCT else result
        _turned(noted, result)[part.rows] = found
    if result is None:
        raise ValueError("there are no weights")
    return result


def as_blocks(noted: Noted, weights: Array, blocks: Blocks) -> Array:
    """Return the numbers of few bits that are nearest to the weights, as they are stored.

    Raises:
        ValueError: The sizes do not fit.
    """
    result = np.empty(noted.dims, dtype_of(TensorProto.DataType.Value(noted.type.upper())))
    rows, given = _rows_of(noted, result), _turned(noted, weights)
    for part in _parts(noted, blocks):
        with np.errstate(all="ignore"):
            steps = np.rint(given[part.rows].astype(np.float32) / part.factors + part.middle)
        steps = np.where(np.isnan(steps), part.middle, steps)
        numbers = np.clip(steps, part.least, part.most).astype(np.int32)
        if noted.is_packed:
            bits = _bits(noted)
            whole = np.full((len(numbers), rows.shape[1] * 8 // bits), noted.filler, np.int32)
            whole[:, : numbers.shape[1]] = numbers
            rows[part.rows] = packed(whole, bits)
        else:
            rows[part.rows] = numbers.astype(rows.dtype)
    return result


def filler_of(noted: Noted, data: Array, blocks: Blocks) -> int:
    """Return the number that most rows are filled up with, 0 where none are."""
    if not noted.is_packed:
        return 0
    columns = next(iter(_parts(noted, blocks))).factors.shape[1]
    bits = _bits(noted)
    tail = unpacked(_rows_of(noted, data)[:, columns * bits // 8 :], bits)
    tail = tail[:, columns - columns * bits // 8 * 8 // bits :]
    return int(np.bincount(tail.reshape(-1)).argmax()) if tail.size else 0


def rest_of(data: Array, again: Array) -> Array:
    """Return the places and bytes, int64 [n, 2], of what is other than the floats give."""
    one, two = (each.reshape(-1).view(np.uint8) for each in (data, again))
    places = np.flatnonzero(one != two)
    return np.stack([places, one[places].astype(np.int64)], axis=1)


def with_rest(data: Array, rest: Array) -> Array:
    """Return the numbers with what the floats did not give."""
    result = data.copy()
    result.reshape(-1).view(np.uint8)[rest[:, 0]] = rest[:, 1]
    return result


def digest_of(data: Array) -> str:
    """Return a digest of the numbers of few bits."""
    return hashlib.blake2b(data.view(np.uint8).data, digest_size=16).hexdigest()


def error_of(one: Array, two: Array) -> tuple[float, float]:
    """Return by how much weights differ at most, and the largest of the first."""
    most = largest = 0.0
    for a, b in zip(_pieces(one), _pieces(two), strict=True):
        with np.errstate(invalid="ignore"):
            apart = np.abs(a.astype(np.float64) - b.astype(np.float64))
        apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, apart)
        worst = float(apart.max(initial=0.0))
        most = max(most, float("inf") if np.isnan(worst) else worst)
        largest = max(largest, float(np.abs(a).max(initial=0.0)))
    return most, largest


def _pieces(array: Array) -> Iterator[Array]:
    flat = array.reshape(-1)
    for start in range(0, flat.size, _AT_ONCE):
        yield flat[start : start + _AT_ONCE]


def _bits(noted: Noted) -> int:
    bits = noted.attribute("bits")
    if bits not in WIDTHS:
        raise ValueError(f"they have {bits} bits, not 2, 4 or 8")
    return bits


def _rows_of(noted: Noted, data: Array) -> Array:
    """Return the numbers as a matrix of bytes where they are packed; a view."""
    return data.reshape(data.shape[0], -1) if noted.is_packed and data.size else data


def _turned(noted: Noted, weights: Array) -> Array:
    """Return weights with their rows first, as the blocks have them; a view."""
    return weights.T if noted.op == PRODUCT else weights


def _floats(numbers: Array, part: _Part) -> Array:
    with np.errstate(all="ignore"):
        return (numbers.astype(np.float32) - part.middle) * part.factors


def _parts(noted: Noted, blocks: Blocks) -> Iterator[_Part]:
    """Yield the rows, as many as are computed with at a time."""
    if not noted.is_packed:
        yield _whole(noted, blocks)
        return
    bits = _bits(noted)
    if noted.op == PRODUCT:
        rows, columns, block = (noted.attribute(name) for name in ("N", "K", "block_size"))
    else:
        rows, columns = noted.dims[0], noted.dims[1] * 8 // bits
        block = noted.attribute("block_size")
    if block < 1 or rows < 1 or rows != noted.dims[0]:
        raise ValueError(f"{rows} rows in blocks of {block}")
    count = -(-columns // block)
    scales = blocks.scales.reshape(rows, count)
    zeros = None if blocks.zeros is None else blocks.zeros.reshape(rows, -1)
    step = max(1, _AT_ONCE // columns)
    for start in range(0, rows, step):
        part = slice(start, min(start + step, rows))
        factors, middle = steps_of(
            scales[part],
            None if zeros is None else zeros[part],
            bits=bits,
            sizes=(part.stop - start, columns, block),
            order=blocks.order,
        )
        yield _Part(part, factors, middle, 0, (1 << bits) - 1)


def _whole(noted: Noted, blocks: Blocks) -> _Part:
    """Return all of a tensor whose element type has the few bits."""
    shape = noted.dims
    block = noted.attribute("block_size")
    axis = noted.attribute("axis" if noted.op == PLAIN else "quantize_axis")
    bits = int(noted.type.rpartition("int")[2])
    least = 0 if noted.type.startswith("u") else -(1 << (bits - 1))
    factors, middle = (
        np.zeros((), np.float32) if each is None else _spread(each, shape, axis, block)
        for each in (blocks.scales, blocks.zeros)
    )
    return _Part(slice(0, shape[0]), factors, middle, least, least + (1 << bits) - 1)


def _spread(array: Array, shape: tuple[int, ...], axis: int, block: int) -> Array:
    """Return scales or zero points as they broadcast against the tensor.

    Raises:
        ValueError: They do not fit it.
    """
    found = np.asarray(array).astype(np.float32)
    if not block:
        if found.size == 1:
            return found.reshape(())
        sides = [1] * len(shape)
        sides[axis] = shape[axis]
        return found.reshape(sides)
    if found.ndim != len(shape) or not -len(shape) <= axis < len(shape):
        raise ValueError("scales of blocks have the rank of what is quantized")
    found = np.repeat(found, block, axis=axis)
    found = found.take(range(min(shape[axis], found.shape[axis])), axis=axis)
    if found.shape != shape:
        raise ValueError(f"scales {list(array.shape)} for {list(shape)} in blocks of {block}")
    return found
