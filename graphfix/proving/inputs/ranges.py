"""Numbers of an input from a range that the user gives."""

from __future__ import annotations

from typing import cast

import numpy as np

from graphfix.errors import UsageError
from graphfix.proving.values.kinds import Array, is_floating, is_integer

Range = tuple[float, float]


def drawn_from(
    like: object, low: float, high: float, rng: np.random.Generator, where: str
) -> Array:
    """Return numbers of the type and shape of an array, drawn evenly, both ends included.

    Raises:
        UsageError: It is no array of numbers, or its type does not have the range.
    """
    if not isinstance(like, np.ndarray):
        raise UsageError("the input is no tensor of numbers", where=where)
    array = cast("Array", like)
    shape, dtype = list(array.shape), array.dtype
    if is_floating(dtype):
        return np.asarray(rng.uniform(low, high, shape)).astype(dtype)
    if not is_integer(dtype) or not dtype.isbuiltin:
        raise UsageError(f"the input is of {dtype}, which has no ranges", where=where)
    limits = np.iinfo(dtype)
    if not (limits.min <= low <= high <= limits.max) or low % 1 or high % 1:
        raise UsageError(f"{low:g}..{high:g} is no range of {dtype}", where=where, hint="integers")
    return np.asarray(rng.integers(int(low), int(high), shape, endpoint=True)).astype(dtype)
