"""How far apart two stored tensors are, a piece at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.difference.contents import Contents
from graphfix.difference.difference import Statistics

Numbers = np.ndarray[Any, Any]


def statistics_of(contents: Contents, before: TensorProto, after: TensorProto) -> Statistics:
    """Compare two tensors of one dtype and shape.

    Raises:
        InvalidModel: External data cannot be read.
    """
    tally = _Tally(tuple(before.dims))
    pieces = zip(contents.arrays(before, 0), contents.arrays(after, 1), strict=True)
    for one, two in pieces:
        tally.add(one, two)
    return tally.result()


class _Tally:
    """Adds up the pieces."""

    def __init__(self, dims: tuple[int, ...]) -> None:
        self._dims = dims
        self._elements = 0
        self._differing = 0
        self._first = -1
        self._largest = 0.0
        self._sum = 0.0
        self._finite = 0
        self._nonfinite = 0
        self._magnitude = 0.0
        self._numeric = True

    def add(self, one: Numbers, two: Numbers) -> None:
        """Take in the next elements of both."""
        if one.dtype.kind in "OUS":
            self._numeric = False
            wrong = np.asarray(one.astype(object) != two.astype(object), dtype=bool)
        else:
            wide = np.complex128 if one.dtype.kind == "c" else np.float64
            # Exact where float64 holds the values; of 64-bit integers the places are exact.
            left, right = one.astype(wide), two.astype(wide)
            different = one != two if one.dtype.kind in "iub" else left != right
            wrong = np.asarray(different & ~(np.isnan(left) & np.isnan(right)), dtype=bool)
            self._measure(left, right, wrong)
        if self._first < 0 and wrong.any():
            self._first = self._elements + int(np.argmax(wrong))
        self._elements += wrong.size
        self._differing += int(wrong.sum())

    def _measure(self, left: Numbers, right: Numbers, wrong: Numbers) -> None:
        finite = np.isfinite(left) & np.isfinite(right)
        gap = np.abs(left[finite] - right[finite])
        self._largest = max(self._largest, float(gap.max(initial=0.0)))
        self._sum += float(gap.sum())
        self._finite += int(finite.sum())
        self._nonfinite += int((wrong & ~finite).sum())
        known = np.abs(left[np.isfinite(left)])
        self._magnitude = max(self._magnitude, float(known.max(initial=0.0)))

    def result(self) -> Statistics:
        """Return the sums."""
        first = np.unravel_index(self._first, self._dims) if self._first >= 0 and self._dims else ()
        place = tuple(int(index) for index in first)
        if not self._numeric:
            return Statistics(self._elements, self._differing, None, None, None, 0, place)
        relative = self._largest / self._magnitude if self._magnitude else None
        mean = self._sum / self._finite if self._finite else 0.0
        return Statistics(
            self._elements,
            self._differing,
            self._largest,
            mean,
            relative,
            self._nonfinite,
            place,
        )
