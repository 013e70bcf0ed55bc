"""Compare two values so that the comparison can fail.

Rule, per output tensor and sample:

- dtype and shape are equal; integers, booleans and strings are equal exactly;
- NaN is where NaN is, an infinity has the same sign;
- the rest of a floating tensor differs by no more than

  ``tolerance = min(max(8 * noise, floor * eps * magnitude), cap * magnitude)``

  with ``magnitude`` the largest finite absolute value of the original's tensor (of a map: of all
  its values, see `magnitudes`), ``eps`` that of the dtype, ``noise`` the largest difference that
  rounding errors put into the original itself (`graphfix.proving.verdict.noise`; zero as long as
  no one had to measure it), ``floor`` 8 (2 for the 16-bit and smaller types) and ``cap`` 1e-3 for
  float32, 1e-2 for float16, 2^-6 for bfloat16, 1e-7 for float64 and one step of the mantissa for
  smaller types.

The cap holds whatever the noise and however deep the model.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from msgspec import Struct

from graphfix.proving.values.kinds import Array, Value, is_floating, leaves

NOISE_FACTOR = 8.0
_CAPS = {"float32": 1e-3, "float16": 1e-2, "bfloat16": 2.0**-6, "float64": 1e-7}
_EPS = {"float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7, "float64": 2.0**-52}


# Elements that are looked at together, and types whose numbers numpy compares as they are.
_NEAR = 2**15
_COMPUTED = frozenset({"float32", "float64", "complex64", "complex128"})
_NATIVE = "fdFD"  # the same, as numpy calls them in one letter


class Difference(Struct, frozen=True):
    """How two values of one output differ.

    Attributes:
        equal: Within the tolerance.
        structural: They differ in kind, dtype, shape or the places of NaN and infinities: no
            consent to a difference of numbers covers that.
        max_abs: Largest absolute difference where both are finite numbers.
        max_rel: `max_abs` relative to the magnitude of the original's tensor.
        reason: What differs, in one line; empty when equal.
    """

    equal: bool
    structural: bool = False
    max_abs: float | None = None
    max_rel: float | None = None
    reason: str = ""


def eps_of(dtype: np.dtype[Any]) -> float:
    """Return the spacing of a floating dtype at 1; one mantissa step for 8 bits and smaller."""
    if dtype.name in _EPS:
        return _EPS[dtype.name]
    ml_dtypes: Any = importlib.import_module("ml_dtypes")
    try:
        return float(ml_dtypes.finfo(dtype).eps)
    except ValueError:  # a type of exponents alone
        return 1.0


def cap_of(dtype: np.dtype[Any], arithmetic: str = "") -> float:
    """Return the largest relative tolerance for a dtype.

    Args:
        dtype: A floating type.
        arithmetic: The type that all floats are computed in; empty for their own.
    """
    return max(_CAPS.get(dtype.name, eps_of(dtype)), _CAPS.get(arithmetic, 0.0))


def tolerance(dtype: np.dtype[Any], magnitude: float, noise: float, arithmetic: str = "") -> float:
    """Return the absolute tolerance; see the module for the rule."""
    floor = 8.0 if dtype.itemsize >= 4 else 2.0
    wanted = max(NOISE_FACTOR * noise, floor * eps_of(dtype) * magnitude)
    return min(wanted, cap_of(dtype, arithmetic) * magnitude)


def magnitude_of(array: Array) -> float:
    """Return the largest finite absolute value; 0 where there is none."""
    largest = 0.0
    for part in pieces(array):
        size = np.abs(part)
        size = size if np.isfinite(size).all() else size[np.isfinite(size)]
        largest = max(largest, float(size.max(initial=0.0)))
    return largest


def magnitudes(value: Value, label: str = "") -> dict[str, float]:
    """Return the magnitude of each floating tensor inside a value, by the labels of `leaves`.

    The values of a map are one row of a tensor, and of the magnitude of its largest: they are
    computed from one another. Of two classes onnxruntime computes the second as 1 - p: p near 1 is
    rounded by half a unit of 1, and so is what is left of it, however small that is.
    """
    if isinstance(value, list):
        inside = (magnitudes(item, f"{label}[{index}]") for index, item in enumerate(value))
        return {key: size for found in inside for key, size in found.items()}
    sizes = {
        key: magnitude_of(array)
        for key, array in leaves(value, label)
        if array is not None and is_floating(array.dtype)
    }
    return dict.fromkeys(sizes, max(sizes.values())) if sizes and isinstance(value, dict) else sizes


def widened(array: Array) -> Array:
    """Return a floating array as float64 (complex as complex128), exactly."""
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def chunks(array: Array) -> Iterator[Array]:
    """Yield the elements of an array in lines that a processor holds near it."""
    flat = np.ascontiguousarray(array).reshape(-1)
    for start in range(0, max(flat.size, 1), _NEAR):
        yield flat[start : start + _NEAR]


def pieces(array: Array) -> Iterator[Array]:
    """Yield the elements of a floating array in lines, in a type that numpy computes with."""
    for part in chunks(array):
        yield part if part.dtype.name in _COMPUTED else widened(part)


def compare(
    before: Value, after: Value, noise: dict[str, float] | None = None, arithmetic: str = ""
) -> Difference:
    """Compare two values of an output.

    Args:
        before: What the original computes.
        after: What the other model computes.
        noise: Largest rounding difference per tensor inside the value, by the labels of
            `graphfix.proving.values.kinds.leaves`; the label of a plain tensor is empty.
        arithmetic: The type that the other model computes all floats in; empty for their own.
    """
    if _shape_of_structure(before) != _shape_of_structure(after):
        return Difference(
            False, True, reason=f"{_shape_of_structure(before)} -> {_shape_of_structure(after)}"
        )
    worst = Difference(True, max_abs=0.0, max_rel=0.0)
    if isinstance(before, np.ndarray) and isinstance(after, np.ndarray) and same(before, after):
        return worst
    sizes = magnitudes(before)
    for (label, left), (_, right) in zip(leaves(before), leaves(after), strict=True):
        if left is None or right is None:
            continue
        allowed = (noise or {}).get(label, 0.0)
        found = compare_tensors(left, right, allowed, arithmetic, magnitude=sizes.get(label))
        worst = _worse(worst, found)
    return worst


def _shape_of_structure(value: Value) -> str:
    """Name kind and length of a value: what has to agree before tensors are looked at."""
    if isinstance(value, list):
        return f"sequence of {len(value)}"
    if isinstance(value, dict):
        return f"map with keys {sorted(map(repr, value))}"
    return "nothing" if value is None else "tensor"


def _worse(left: Difference, right: Difference) -> Difference:
    if left.structural or right.structural:
        return left if left.structural else right
    return Difference(
        left.equal and right.equal,
        False,
        max(left.max_abs or 0.0, right.max_abs or 0.0),
        max(left.max_rel or 0.0, right.max_rel or 0.0),
        left.reason or right.reason,
    )


def compare_tensors(
    before: Array,
    after: Array,
    noise: float = 0.0,
    arithmetic: str = "",
    *,
    magnitude: float | None = None,
) -> Difference:
    """Compare two arrays; see the module for the rule.

    Args:
        before: What the original computes.
        after: What the other model computes.
        noise: Largest difference that rounding puts into the original.
        arithmetic: The type that the other model computes all floats in; empty for their own.
        magnitude: That of what the array belongs to; its own where nothing is said.
    """
    if _dtype_name(before) != _dtype_name(after):
        text = f"dtype {_dtype_name(before)} -> {_dtype_name(after)}"
        return Difference(False, True, reason=text)
    if before.shape != after.shape:
        text = f"shape {list(before.shape)} -> {list(after.shape)}"
        return Difference(False, True, reason=text)
    if before.size == 0:
        return Difference(True, max_abs=0.0, max_rel=0.0)
    if is_floating(before.dtype) or before.dtype.kind == "c":
        size = magnitude_of(before) if magnitude is None else magnitude
        return _compare_floats(
            before, after, size, tolerance(before.dtype, size, noise, arithmetic)
        )
    return _compare_exactly(before, after)


def same(before: Array, after: Array) -> bool:
    """Say whether two arrays have one type, shape and the same bits: nothing else is looked at."""
    if before.dtype != after.dtype or before.shape != after.shape or before.dtype.kind == "O":
        return False
    if before.ndim > 0 and before.size <= _NEAR:
        return before.tobytes() == after.tobytes()
    one, two = (np.ascontiguousarray(array).view(np.uint8) for array in (before, after))
    return before.ndim > 0 and bool(np.array_equal(one, two))


def finite(array: Array) -> bool:
    """Say whether a floating array has no NaN and no infinity."""
    if array.size <= _NEAR and array.dtype.char in _NATIVE:
        return bool(np.isfinite(array).all())
    return all(bool(np.isfinite(part).all()) for part in pieces(array))


def _dtype_name(array: Array) -> str:
    return "string" if array.dtype.kind in "OUS" else array.dtype.name


def _compare_exactly(before: Array, after: Array) -> Difference:
    wrong = mismatches(before, after)
    if not wrong.any():
        return Difference(True, max_abs=0.0, max_rel=0.0)
    text = f"{int(wrong.sum())} of {before.size} elements differ"
    if before.dtype.kind in "OUSb":
        return Difference(False, False, 1.0, 1.0, text)
    # Python integers: the difference of two uint64 or int64 need not fit either.
    pairs = zip(before[wrong].ravel()[:4096], after[wrong].ravel()[:4096], strict=True)
    largest = float(max(abs(int(a) - int(b)) for a, b in pairs))
    magnitude = float(max(abs(int(before.max())), abs(int(before.min()))))
    return Difference(False, False, largest, largest / magnitude if magnitude else largest, text)


def mismatches(before: Array, after: Array) -> Array:
    """Return where two arrays of one shape differ exactly; NaN equals NaN."""
    if before.dtype.kind in "OUS":
        return np.asarray(before.astype(object) != after.astype(object), dtype=bool)
    if is_floating(before.dtype):
        left, right = widened(before), widened(after)
        return np.asarray((left != right) & ~(np.isnan(left) & np.isnan(right)), dtype=bool)
    return np.asarray(before != after, dtype=bool)


def _compare_floats(before: Array, after: Array, magnitude: float, allowed: float) -> Difference:
    largest, odd, count = 0.0, 0, 0
    for one, two in zip(chunks(before), chunks(after), strict=True):
        left, right = widened(one), widened(two)
        finite = np.isfinite(left) & np.isfinite(right)
        if not finite.all():
            same = (left == right) | (np.isnan(left) & np.isnan(right))
            odd += int((~finite & ~same).sum())
            left, right = left[finite], right[finite]
        gap = np.abs(left - right)
        largest = max(largest, float(gap.max(initial=0.0)))
        count += int((gap > allowed).sum())
    relative = largest / magnitude if magnitude else largest
    if odd:
        text = f"NaN or infinity differs in {odd} of {before.size} elements"
        return Difference(False, True, largest, relative, text)
    if largest <= allowed:
        return Difference(True, False, largest, relative)
    text = (
        f"{count} of {before.size} elements differ by up to {largest:.3g}, "
        f"{allowed:.3g} would be rounding"
    )
    return Difference(False, False, largest, relative, text)
