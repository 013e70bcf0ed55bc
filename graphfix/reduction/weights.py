"""Plainer weights: zeros or ones where the values do not matter, inside the file where they fit."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from onnx import ModelProto, TensorProto, numpy_helper

from graphfix.ir.storage.reading import walk_tensors
from graphfix.ir.storage.weights import dtype_of, is_external, load_array, stored_bytes
from graphfix.reduction.oracle import Oracle
from graphfix.reduction.search import shortened

# Bigger tensors stay outside the file.
_INLINE_AT_MOST = 64 << 20
_FLOATS = {
    TensorProto.FLOAT,
    TensorProto.FLOAT16,
    TensorProto.BFLOAT16,
    TensorProto.DOUBLE,
}


def plainer_weights(proto: ModelProto, oracle: Oracle) -> ModelProto:
    """Return the model with zeros, else ones, for all floats whose values do not matter.

    Small numbers of one digit come in place of the rest where the failure allows it, and all
    values that fit are taken into the file.
    """
    names = [t.name for t in proto.graph.initializer if _can_be_plain(t)]
    for value in (0.0, 1.0):
        candidate = _filled(proto, names, value)
        if not names or oracle.accepts(candidate):
            return _inside(candidate if names else proto, oracle)
    # Those that stay are what cannot be left out of the list of those that must stay.
    stay = shortened(
        names, lambda kept: oracle.accepts(_filled(proto, set(names) - set(kept), 0.0))
    )
    best = _filled(proto, set(names) - set(stay), 0.0)
    if not oracle.accepts(best):
        best = proto
    for name in stay:
        candidate = _filled(best, {name}, 1.0)
        if oracle.accepts(candidate):
            best = candidate
            continue
        rounded = _rounded(best, name, oracle.base_dir)
        if rounded is not None and oracle.accepts(rounded):
            best = rounded
    return _inside(best, oracle)


def stored_size(proto: ModelProto) -> int:
    """Return the bytes of all stored tensors, wherever they lie."""
    return sum(stored_bytes(tensor) for tensor in walk_tensors(proto))


def _can_be_plain(tensor: TensorProto) -> bool:
    return tensor.data_type in _FLOATS and stored_bytes(tensor) <= _INLINE_AT_MOST


def _filled(proto: ModelProto, names: Collection[str], value: float) -> ModelProto:
    fresh = ModelProto()
    fresh.CopyFrom(proto)
    chosen = set(names)
    for tensor in fresh.graph.initializer:
        if tensor.name in chosen:
            values = np.full(tuple(tensor.dims), value, dtype_of(tensor.data_type))
            tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
    return fresh


def _rounded(proto: ModelProto, name: str, base_dir: str) -> ModelProto | None:
    """Return the model with one digit left of each value; None where that changes nothing."""
    fresh = ModelProto()
    fresh.CopyFrom(proto)
    tensor = next(t for t in fresh.graph.initializer if t.name == name)
    values = load_array(tensor, base_dir)
    wide = values.astype(np.float64)
    with np.errstate(all="ignore"):
        unit = 10.0 ** np.floor(np.log10(np.abs(wide)))
        short = np.where(np.isfinite(unit) & (unit > 0), np.round(wide / unit) * unit, wide)
        new = short.astype(values.dtype)
    if (new == values).all():
        return None
    tensor.CopyFrom(numpy_helper.from_array(new, name))
    return fresh


def _inside(proto: ModelProto, oracle: Oracle) -> ModelProto:
    """Return the model with its external data in the file, if it fails like that."""
    outside = [t for t in walk_tensors(proto) if is_external(t)]
    if not outside or sum(map(stored_bytes, outside)) > _INLINE_AT_MOST:
        return proto
    fresh = ModelProto()
    fresh.CopyFrom(proto)
    for tensor in walk_tensors(fresh):
        if is_external(tensor):
            values = load_array(tensor, oracle.base_dir)
            tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
    return fresh if oracle.accepts(fresh) else proto
