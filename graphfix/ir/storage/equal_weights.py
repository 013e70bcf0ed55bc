"""Which weights are equal, bit for bit, read no further than is needed to tell them apart."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from onnx import SparseTensorProto, TensorProto

from graphfix.ir.storage.weights import Weights, external_span, is_external

CHUNK = 1 << 20
_FIRST = 1 << 12  # bytes that tell nearly all weights of one size apart

_Owner = TypeVar("_Owner")


def equal_sets(weighed: Iterable[tuple[_Owner, Weights]]) -> list[list[_Owner]]:
    """Return the owners of equal weights: of one element type and shape, and with the same bytes.

    Weights of a size that no others have are not read, and of those that begin otherwise the
    beginning alone. Numbers that are stored in two ways, as bytes and as a list, count as others.

    Args:
        weighed: Owners and their weights. Sparse ones and texts are left out.

    Returns:
        Sets of two and more, each in the order of `weighed`.
    """
    sets = [list(weighed)]
    for key in STEPS:
        sets = [part for found in sets for part in _parts(found, key)]
    return [[owner for owner, _ in found] for found in sets]


_Key = Hashable | None


def _parts(
    weighed: list[tuple[_Owner, Weights]], key: Callable[[Weights], _Key]
) -> Iterator[list[tuple[_Owner, Weights]]]:
    """Yield those of two and more that have one key; None is the key of what is left out."""
    found: dict[Hashable, list[tuple[_Owner, Weights]]] = {}
    for owner, weights in weighed:
        of = key(weights)
        if of is not None:
            found.setdefault(of, []).append((owner, weights))
    return (part for part in found.values() if len(part) > 1)


def _kind(weights: Weights) -> _Key:
    proto = weights.proto
    if isinstance(proto, SparseTensorProto) or weights.elem_type == TensorProto.STRING:
        return None
    if is_external(proto):
        return weights.elem_type, weights.shape, external_span(proto)[2]
    if proto.HasField("raw_data"):
        return weights.elem_type, weights.shape, len(proto.raw_data)
    return weights.elem_type, weights.shape, "listed"


def _beginning(weights: Weights) -> _Key:
    return next(chunks_of(weights, _FIRST), b"")


def _whole(weights: Weights) -> _Key:
    if weights.digest is None:
        digest = hashlib.sha256()
        for chunk in chunks_of(weights, CHUNK):
            digest.update(chunk)
        weights.digest = digest.digest()
    return weights.digest


def chunks_of(weights: Weights, size: int) -> Iterator[bytes]:
    """Yield the bytes as they are stored, `size` at once; of listed numbers those of an array."""
    proto = weights.proto
    assert isinstance(proto, TensorProto)
    if not is_external(proto):
        raw = proto.raw_data if proto.HasField("raw_data") else weights.load().tobytes()
        for start in range(0, len(raw), size):
            yield raw[start : start + size]
        return
    location, offset, length = external_span(proto)
    with (Path(weights.base_dir) / location).open("rb") as stream:
        stream.seek(offset)
        while length > 0 and (chunk := stream.read(min(length, size))):
            yield chunk
            length -= len(chunk)


# What tells weights apart, the cheapest first; the last is the SHA-256 of all bytes.
STEPS: tuple[Callable[[Weights], Hashable | None], ...] = (_kind, _beginning, _whole)
