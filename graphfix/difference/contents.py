"""What stored tensors hold, hashed in pieces: weights are never in memory as a whole twice.

Two tensors that lie at the same place of the same file are equal unread.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from onnx import ModelProto, SparseTensorProto, TensorProto, numpy_helper

from graphfix.difference.scopes import Stored
from graphfix.errors import InvalidModel
from graphfix.ir.storage.reading import walk_tensors
from graphfix.ir.storage.weights import (
    external_span,
    is_external,
    load_array,
    stored_bytes,
    type_name,
)

CHUNK = 1 << 20
# (device, inode, time of its last change, offset, length): one piece of one file, whatever the path
# to it is.
Span = tuple[int, int, int, int, int]
_Kind = tuple[int, tuple[int, ...]]
# The hashes of pieces of files; many gigabytes are then read once by an edit and by its proof.
_span_hashes: dict[tuple[Span, _Kind], bytes] = {}
_MOST = 1 << 16


def described(stored: Stored) -> str:
    """Return dtype and shape of a stored tensor: ``float32[3, 4]``."""
    if isinstance(stored, SparseTensorProto):
        return f"sparse {type_name(stored.values.data_type)}{list(stored.dims)}"
    return f"{type_name(stored.data_type)}{list(stored.dims)}"


class Contents:
    """The stored tensors of two models.

    Attributes:
        read: How many bytes of external data were read.
    """

    def __init__(self, before: ModelProto, after: ModelProto, folders: tuple[str, str]) -> None:
        """Look at where the tensors lie; nothing is read yet."""
        self._folders = folders
        # The tensor is held with its hash, so that its id stays its own.
        self._hashes: dict[int, tuple[Stored, bytes]] = {}
        self._transposed: dict[int, tuple[TensorProto, bytes]] = {}
        self.read = 0
        places: tuple[dict[_Kind, set[Span | None]], dict[_Kind, set[Span | None]]] = ({}, {})
        for number, model in enumerate((before, after)):
            for tensor in walk_tensors(model):
                place = self._span(tensor, number) if is_external(tensor) else None
                places[number].setdefault(_kind(tensor), set()).add(place)
        # Of these kinds each model holds exactly the same pieces of the same files.
        self._shared = {
            kind
            for kind, spans in places[0].items()
            if None not in spans and spans == places[1].get(kind)
        }

    def label(self, stored: Stored, number: int) -> bytes:
        """Return what stands for the values of a tensor of model `number` (0 or 1).

        Equal labels mean equal values; other labels mean other values or, where both models hold
        the same pieces of the same files, other places.
        """
        if isinstance(stored, TensorProto) and is_external(stored):
            kind = _kind(stored)
            if kind in self._shared:
                return digest(repr((kind, self._span(stored, number))).encode())
        return self.hash(stored, number)

    def equal(self, one: Stored, two: Stored) -> bool:
        """Say whether a tensor of the first and one of the second model hold the same."""
        if described(one) != described(two):
            return False
        if (
            isinstance(one, TensorProto)
            and isinstance(two, TensorProto)
            and is_external(one)
            and is_external(two)
            and self._span(one, 0) == self._span(two, 1)
        ):
            return True
        return self.hash(one, 0) == self.hash(two, 1)

    def hash(self, stored: Stored, number: int) -> bytes:
        """Return the hash of dtype, shape and values, however they are stored.

        Raises:
            InvalidModel: External data cannot be read or is too short.
        """
        known = self._hashes.get(id(stored))
        if known is not None:
            return known[1]
        if isinstance(stored, SparseTensorProto):
            parts = (self.hash(stored.values, number), self.hash(stored.indices, number))
            found = digest(repr(list(stored.dims)).encode(), *parts)
        elif is_external(stored):
            key = (self._span(stored, number), _kind(stored))
            if key not in _span_hashes:
                if len(_span_hashes) >= _MOST:
                    _span_hashes.clear()
                _span_hashes[key] = self._hash_pieces(stored, number)
            found = _span_hashes[key]
        else:
            found = self._hash_pieces(stored, number)
        self._hashes[id(stored)] = (stored, found)
        return found

    def hash_transposed(self, tensor: TensorProto, number: int) -> bytes:
        """Return the hash that the transpose of a matrix has; the matrix is in memory meanwhile.

        Raises:
            InvalidModel: External data cannot be read or is too short.
        """
        if id(tensor) not in self._transposed:
            turned = np.ascontiguousarray(load_array(tensor, self._folders[number]).T)
            kind = (tensor.data_type, turned.shape)
            state = blake2b(repr(kind).encode(), digest_size=16)
            state.update(turned.view(np.uint8).data)
            self._transposed[id(tensor)] = (tensor, state.digest())
        return self._transposed[id(tensor)][1]

    def _hash_pieces(self, tensor: TensorProto, number: int) -> bytes:
        state = blake2b(repr(_kind(tensor)).encode(), digest_size=16)
        for piece in self.pieces(tensor, number):
            state.update(piece)
        return state.digest()

    def pieces(self, tensor: TensorProto, number: int) -> Iterator[bytes]:
        """Yield the values as little-endian raw data, `CHUNK` bytes at a time.

        Strings come one by one, each with its length in front.

        Raises:
            InvalidModel: External data cannot be read or is too short.
        """
        if is_external(tensor):
            yield from self._external_pieces(tensor, number)
            return
        if tensor.data_type == TensorProto.STRING:
            for text in tensor.string_data:
                yield len(text).to_bytes(8, "little") + text
            return
        raw = tensor.raw_data if tensor.HasField("raw_data") else _packed(tensor)
        for start in range(0, len(raw), CHUNK):
            yield raw[start : start + CHUNK]

    def _external_pieces(self, tensor: TensorProto, number: int) -> Iterator[bytes]:
        location, offset, length = external_span(tensor)
        path = Path(self._folders[number]) / location
        try:
            with path.open("rb") as stream:
                stream.seek(offset)
                yield from self._pieces_of(stream, length, tensor.name, path)
        except OSError as error:
            raise InvalidModel(
                f"external data of {tensor.name!r} cannot be read: {error.strerror}",
                where=str(path),
            ) from error

    def _pieces_of(self, stream: BinaryIO, length: int, name: str, path: Path) -> Iterator[bytes]:
        left = length
        while left > 0:
            piece = stream.read(min(CHUNK, left))
            if not piece:
                raise InvalidModel(
                    f"external data of {name!r} is too short: {length - left} of {length} bytes",
                    where=str(path),
                )
            left -= len(piece)
            self.read += len(piece)
            yield piece

    def _span(self, tensor: TensorProto, number: int) -> Span:
        location, offset, length = external_span(tensor)
        path = Path(self._folders[number]) / location
        try:
            status = path.stat()
        except OSError as error:
            raise InvalidModel(
                f"external data of {tensor.name!r} cannot be read: {error.strerror}",
                where=str(path),
            ) from error
        return status.st_dev, status.st_ino, status.st_mtime_ns, offset, length

    def arrays(self, tensor: TensorProto, number: int) -> Iterator[np.ndarray[Any, Any]]:
        """Yield the values as flat arrays, a piece at a time; strings as objects."""
        if tensor.data_type == TensorProto.STRING:
            yield numpy_helper.to_array(tensor).reshape(-1)
            return
        left = prod(tensor.dims)
        # Eight elements of n bits are n bytes; CHUNK is a multiple of every element's size.
        bits = stored_bytes(TensorProto(data_type=tensor.data_type, dims=[8]))
        for piece in self.pieces(tensor, number):
            count = min(left, CHUNK * 8 // bits)
            left -= count
            part = TensorProto(data_type=tensor.data_type, dims=[count], raw_data=piece)
            yield numpy_helper.to_array(part)


def _kind(tensor: TensorProto) -> _Kind:
    return tensor.data_type, tuple(tensor.dims)


def _packed(tensor: TensorProto) -> bytes:
    """Return values that are stored as numbers in the form of raw data."""
    if tensor.data_type == TensorProto.UNDEFINED:
        return tensor.SerializeToString(deterministic=True)
    if not prod(tensor.dims):
        return b""
    return numpy_helper.from_array(numpy_helper.to_array(tensor)).raw_data


def digest(*parts: bytes) -> bytes:
    state = blake2b(digest_size=16)
    for part in parts:
        state.update(len(part).to_bytes(8, "little"))
        state.update(part)
    return state.digest()
