"""Random weights in the place of a model's own: same shape, dtype and scale."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import onnx
from onnx import TensorProto

from graphfix.proving.inputs import draws
from graphfix.proving.values.kinds import Array, is_floating, is_integer

# Integers up to so many elements are taken for axes, shapes and indices, and stay.
_STRUCTURAL = 64
_SMALL = 16


class Kept(IntEnum):
    """What of the weights stays, from nothing to more; a fault may need it."""

    SCALE = 0  # mean, spread, least and greatest
    PATTERN = 1  # also which elements are zero, and which are the same as others
    SMALL = 2  # also tensors of a few elements: exponents, epsilons, scales


def scrambled(tensor: TensorProto, kept: Kept, rng: np.random.Generator) -> TensorProto:
    """Return a tensor without a name that has other values.

    Args:
        tensor: The tensor; its values lie in it.
        kept: What stays as it is.
        rng: Where the values come from.
    """
    if tensor.data_type == TensorProto.STRING:
        return _strings(tensor)
    array: Array = onnx.numpy_helper.to_array(tensor)
    fresh = _values(array, kept, rng)
    if fresh is None:
        same = TensorProto()
        same.CopyFrom(tensor)
        same.ClearField("name")
        return same
    made = onnx.numpy_helper.from_array(fresh)
    made.data_type = tensor.data_type
    return made


def scrambled_floats(values: list[float], kept: Kept, rng: np.random.Generator) -> list[float]:
    """Return other values for a list of floats."""
    fresh = _values(np.array(values, np.float32), kept, rng)
    return values if fresh is None else [float(value) for value in fresh]


def _values(array: Array, kept: Kept, rng: np.random.Generator) -> Array | None:
    """Return other values, None to keep them."""
    if not array.size or (kept is Kept.SMALL and array.size <= _SMALL):
        return None
    if is_floating(array.dtype):
        return draws.cast(_floats(array.astype(np.float64), kept, rng), array.dtype)
    if array.size <= _STRUCTURAL or not (is_integer(array.dtype) or array.dtype.kind == "b"):
        return None
    if kept is not Kept.SCALE and array.dtype.itemsize > 1:
        return None  # a large table of indices
    wide = array.astype(np.int64) if array.dtype != np.uint64 else array
    low, high = int(wide.min()), int(wide.max())
    drawn = rng.integers(low, high, size=array.shape, endpoint=True, dtype=wide.dtype)
    return drawn.astype(array.dtype)


def _floats(wide: Array, kept: Kept, rng: np.random.Generator) -> Array:
    if kept is Kept.SCALE:
        return _like(wide, rng)
    distinct, places = np.unique(wide, return_inverse=True)
    fresh = np.where(distinct == 0, 0.0, _like(distinct, rng))
    return fresh[places].reshape(wide.shape)


def _like(wide: Array, rng: np.random.Generator) -> Array:
    """Draw numbers of the same mean, spread and range; what is not finite stays."""
    finite = np.isfinite(wide)
    if not finite.any():
        return wide
    known = wide[finite]
    low, high = float(known.min()), float(known.max())
    if low == high:
        drawn = np.full(wide.shape, low * rng.uniform(0.5, 1.5))
    else:
        # Not quite to the ends: least and greatest are values of the model.
        edge = rng.uniform(0.001, 0.01, 2) * (high - low)
        drawn = rng.normal(known.mean(), known.std(), wide.shape)
        drawn = np.clip(drawn, low + edge[0], high - edge[1])
    return np.where(finite, drawn, wide)


def _strings(tensor: TensorProto) -> TensorProto:
    """Number the strings; the same ones stay the same, and the empty one stays empty."""
    made = TensorProto(data_type=TensorProto.STRING, dims=tensor.dims)
    made.string_data.extend(numbered(list(tensor.string_data)))
    return made


def numbered(strings: list[bytes]) -> list[bytes]:
    """Return ``s0``, ``s1`` ... for strings; the same ones stay the same, the empty one empty."""
    names: dict[bytes, bytes] = {b"": b""}
    return [names.setdefault(s, b"s%d" % (len(names) - 1)) for s in strings]
