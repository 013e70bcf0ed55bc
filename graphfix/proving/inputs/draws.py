"""Random tensors of every element type: negative numbers, zeros, ties and round values in them.

Successive input sets differ in style, so that an output which one style saturates or leaves
constant moves with another.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from graphfix.proving.inputs.roles import ARITHMETIC
from graphfix.proving.inputs.uses import Use, attribute_of, int_attribute
from graphfix.proving.values.kinds import Array, Value, is_floating

STYLES = 5
# From so many numbers on the first style has parts in the others.
_MANY = 2**17
_UNIT_INPUTS = frozenset(
    {("Bernoulli", 0), ("Dropout", 1), ("NonMaxSuppression", 1), ("NonMaxSuppression", 3)}
)
_POSITIVE_INPUTS = frozenset(
    {("BatchNormalization", 4), ("QuantizeLinear", 1), ("DequantizeLinear", 1)}
    | {("QLinearConv", 1), ("QLinearMatMul", 1), ("Sqrt", 0), ("Log", 0)}
)
_SIGNED_UNIT_INPUTS = frozenset({("GridSample", 1), ("Acos", 0), ("Asin", 0), ("Atanh", 0)})
# Operators that take matrices apart; PyTorch's are named by an attribute of ATen nodes. Some take
# symmetric ones only whose eigenvalues are positive.
_MATRICES = frozenset({"Inverse", "inverse", "linalg_inv", "linalg_inv_ex", "linalg_solve"})
_DEFINITE = frozenset({"cholesky", "linalg_cholesky", "linalg_cholesky_ex"})
_LISTS = ("keys_strings", "classes_strings", "cats_strings", "string_vocabulary")
_WORDS = ("a", "b", "cat", "Dog", "7", "-3.5", "", "naïve", "two words", "A1")
_NUMBERS = ("7", "-3.5", "0", "12", "1e3", "2.25")


def floats(
    shape: tuple[int, ...], style: int, uses: Sequence[Use], rng: np.random.Generator
) -> Array:
    """Return float64 values in the style of a sample, inside the domain of their first use."""
    places = {(use.op, use.position) for use in uses}
    if ("Resize", 2) in places or ("Upsample", 1) in places:
        scales = np.ones(shape)
        scales[..., 2:] = 2.0
        return scales
    if ("Range", 1) in places:
        return np.full(shape, 5.0)
    if ("Range", 2) in places:
        return np.full(shape, 1.0)
    if ("RoiAlign", 1) in places or ("MaxRoiPool", 1) in places:
        corners = rng.uniform(0, 4, shape)
        corners[..., -2:] += 4.0
        return corners
    if places & _UNIT_INPUTS:
        return rng.uniform(0, 1, shape)
    if ("GridSample", 1) in places:
        return rng.uniform(-1.25, 1.25, shape)  # what lies outside of the image is padded
    if places & _SIGNED_UNIT_INPUTS:
        return rng.uniform(-1, 1, shape)
    if places & _POSITIVE_INPUTS:
        return rng.uniform(0.01, 2, shape)
    if ("Acosh", 0) in places:
        return rng.uniform(1, 5, shape)
    if _is_square(shape) and any(_takes_matrix(use, _DEFINITE) for use in uses):
        factor = _regular(shape, rng)
        return factor @ factor.swapaxes(-1, -2)
    if _is_square(shape) and any(_takes_matrix(use, _MATRICES) for use in uses):
        return _regular(shape, rng)
    return _styled(shape, style, rng)


def is_free(shape: tuple[int, ...], uses: Sequence[Use]) -> bool:
    """Say whether any number may go where a float tensor is used, whatever its size and sign."""
    places = {(use.op, use.position) for use in uses}
    special = {("Resize", 2), ("Upsample", 1), ("Range", 0), ("Range", 1), ("Range", 2)}
    special |= {("RoiAlign", 1), ("MaxRoiPool", 1), ("Acosh", 0)}
    special |= _UNIT_INPUTS | _SIGNED_UNIT_INPUTS | _POSITIVE_INPUTS
    if places & special:
        return False
    taken = any(_takes_matrix(use, _MATRICES | _DEFINITE) for use in uses)
    return not (_is_square(shape) and taken)


def _is_square(shape: tuple[int, ...]) -> bool:
    return len(shape) > 1 and shape[-1] == shape[-2]


def _takes_matrix(use: Use, operators: frozenset[str]) -> bool:
    named = attribute_of(use.node, "operator")
    called = use.op if named is None else named.s.decode("utf-8", "replace")
    return use.position == 0 and called.removeprefix("aten::").partition(".")[0] in operators


def _regular(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Return matrices far from singular, with large entries anywhere but on the diagonal alone."""
    size = shape[-1]
    places = rng.random((*shape[:-2], size)).argsort(axis=-1)
    large = 3.0 * np.sqrt(size) * np.eye(size)[places]
    return np.asarray(rng.standard_normal(shape) + large)


def has_all_styles(values: Iterable[Value]) -> bool:
    """Say whether these inputs, drawn in the first style, have parts in every other one."""
    sizes = [
        value.size if isinstance(value, np.ndarray) and is_floating(value.dtype) else 0
        for value in values
    ]
    return min(sizes, default=0) >= _MANY


def _styled(shape: tuple[int, ...], style: int, rng: np.random.Generator) -> Array:
    kind = style % STYLES
    if kind == 1:
        return rng.uniform(0, 1, shape)
    values = rng.standard_normal(shape)
    if kind == 2:
        # Halves and integers of both signs: exact ties, zeros, and roundings at .5.
        return np.where(rng.random(shape) < 0.5, np.round(values * 6) / 2, values * 3)
    if kind == 3:
        return values * 0.3
    if kind == 4:
        return rng.uniform(-10, 10, shape)
    values = np.where(rng.random(shape) < 0.05, 0.0, values)
    if values.size >= _MANY:
        _mix(values.reshape(-1), rng)
    if values.ndim and values.shape[-1] > 3:
        values[..., -1] = values[..., 0]
    return values


def _mix(flat: Array, rng: np.random.Generator) -> None:
    """Put the other styles into parts of many numbers: there are fewer samples of these."""
    halves, small, wide = np.array_split(flat, 4)[1:]
    halves[:] = np.where(rng.random(halves.shape) < 0.5, np.round(halves * 6) / 2, halves * 3)
    small *= 0.3
    wide[:] = rng.uniform(-10, 10, wide.shape)


def integers(
    dtype: np.dtype[np.generic],
    shape: tuple[int, ...],
    name: str,
    uses: Sequence[Use],
    conservative: bool,
    rng: np.random.Generator,
) -> Array:
    """Return int64 values for an integer input without a role."""
    if conservative or "mask" in name.lower():
        return rng.integers(0, 2, shape)
    if "type_ids" in name.lower() or "segment" in name.lower():
        return rng.integers(0, 2, shape)
    if dtype.name in ("uint8", "int8"):
        return rng.integers(
            -128 if dtype.name == "int8" else 0, 128 if dtype.name == "int8" else 256, shape
        )
    if dtype.name in ("int4", "uint4", "int2", "uint2"):
        low, high = {"int4": (-8, 8), "uint4": (0, 16), "int2": (-2, 2), "uint2": (0, 4)}[
            dtype.name
        ]
        return rng.integers(low, high, shape)
    if dtype.kind == "u":
        return rng.integers(0, 21, shape)
    if uses and all(use.op in ARITHMETIC for use in uses):
        return rng.integers(-10, 11, shape)
    return rng.integers(0, 6, shape)


def booleans(shape: tuple[int, ...], sample: int, rng: np.random.Generator) -> Array:
    """Return mixed truth values; a single one alternates from sample to sample."""
    if math.prod(shape) == 1:
        return np.full(shape, sample % 2 == 0)
    return rng.random(shape) < (0.5, 0.8, 0.2)[sample % 3]


def strings(shape: tuple[int, ...], uses: Sequence[Use], rng: np.random.Generator) -> Array:
    """Return words; the keys of a dictionary operator, or numbers where they are converted."""
    words: list[str] = list(_WORDS)
    for use in uses:
        for name in _LISTS:
            attribute = attribute_of(use.node, name)
            if attribute is not None:
                words = [text.decode("utf-8", "replace") for text in attribute.strings]
                words += [] if _wants_known(use) else ["other"]
    if any(use.op == "Cast" for use in uses):
        words = list(_NUMBERS)
    picked = rng.integers(0, len(words), shape)
    result = np.empty(shape, dtype=object)
    for place in np.ndindex(*shape):
        result[place] = words[int(picked[place])]
    return result


def categories(uses: Sequence[Use]) -> list[int]:
    """Return the numbers that alone an input may hold; none where it may hold others too."""
    for use in uses:
        attribute = attribute_of(use.node, "cats_int64s")
        if attribute is not None and _wants_known(use):
            return list(attribute.ints)
    return []


def _wants_known(use: Use) -> bool:
    """Whether onnxruntime stops at a category that a OneHotEncoder does not have."""
    return use.op == "OneHotEncoder" and not int_attribute(use.node, "zeros", 1)


def cast(values: Array, dtype: np.dtype[np.generic]) -> Array:
    """Convert drawn values, clipped to the range of small types so that nothing wraps around."""
    if dtype.kind in "iu":
        limits = np.iinfo(dtype.name)
        low, high = max(limits.min, -(2**62)), min(limits.max, 2**62)
        return np.asarray(np.clip(values, low, high)).astype(dtype)
    if is_floating(dtype) and dtype.itemsize == 1:
        return np.asarray(np.clip(values, -4, 4), dtype=np.float32).astype(dtype)
    return np.asarray(values).astype(dtype)
