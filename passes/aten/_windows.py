"""The windows of pooling as PyTorch lays them, in floor and in ceil mode."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from graphfix.authoring import Array, Refuse

from ._arguments import ArrayCall, Call


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows along one axis.

    Attributes:
        size: The size of the axis; None where it is open.
        kernel: Elements of a window.
        stride: From one window to the next.
        pad: Padding on either side.
        dilation: From one element of a window to the next.
        ceil: Whether a window may hang over at the end.
    """

    size: int | None
    kernel: int
    stride: int
    pad: int
    dilation: int = 1
    ceil: bool = False

    @property
    def reach(self) -> int:
        """How many elements a window covers, those between its own included."""
        return self.dilation * (self.kernel - 1) + 1

    @property
    def count(self) -> int | None:
        """How many windows there are (pooling_output_shape of PyTorch's Pool.h); None if open.

        Raises:
            Refuse: There is none, for which PyTorch raises an error.
        """
        if self.size is None:
            return None
        steps, rest = divmod(self.size + 2 * self.pad - self.reach, self.stride)
        found = steps + 1 + (1 if self.ceil and rest else 0)
        if self.ceil and (found - 1) * self.stride >= self.size + self.pad:
            found -= 1
        if found < 1:
            raise Refuse(f"windows of {self.reach} must fit into the axis; its size is {self.size}")
        return found

    @property
    def further(self) -> int:
        """How many elements are padded at the end beyond `pad`.

        A window that hangs over has to begin before the end of the axis and its padding. Where
        the size is open, this many are enough for each such window and for no further one.

        Raises:
            Refuse: The size is open, and more is padded than PyTorch lets.
        """
        if not self.ceil:
            return 0
        count = self.count
        if count is None or self.size is None:
            if self.pad >= self.reach:
                raise Refuse(f"the padding must be at most half a window; it is {self.pad}")
            return min(self.stride - 1, self.reach - 1 - self.pad)
        return max(0, (count - 1) * self.stride + self.reach - self.size - 2 * self.pad)

    def counted(self, *, padded: bool) -> list[int]:
        """Return how many elements the mean of each window is of; those of the padding or not."""
        assert self.size is not None  # the callers have looked
        found: list[int] = []
        for at in range(self.count or 0):
            start = at * self.stride - self.pad
            end = min(start + self.kernel, self.size + self.pad)
            found.append(end - start if padded else min(end, self.size) - max(start, 0))
        return found


def windows_of(call: Call | ArrayCall, sizes: tuple[int | None, ...]) -> tuple[Windows, ...]:
    """Return the windows of a call along each pooled axis.

    Raises:
        Refuse: An argument is computed at run time, or has not one entry for each axis.
    """
    count = len(sizes)

    def each(name: str, default: int | None) -> list[int]:
        given = call.entries(name) if name in call.schema else None
        found = [int(n) for n in given or () if n is not None]
        if not found and default is not None:
            found = [default]
        found = found * count if len(found) == 1 else found
        if found and len(found) != count:
            raise Refuse(f"{name} must have an entry for each of {count} axes; it has {len(found)}")
        return found

    kernel = each("kernel_size", None)
    stride = each("stride", None) or kernel
    ceil = bool(call.number("ceil_mode", 0))
    made = zip(sizes, kernel, stride, each("padding", 0), each("dilation", 1), strict=True)
    return tuple(Windows(*one, ceil) for one in made)


def divisors(windows: tuple[Windows, ...], *, padded: bool) -> Array:
    """Return what the sum of each window is divided by."""
    found: Array = np.ones((1,) * len(windows), np.int64)
    for axis, along in enumerate(windows):
        lined = [-1 if at == axis else 1 for at in range(len(windows))]
        found = found * np.array(along.counted(padded=padded), np.int64).reshape(lined)
    return found


def offsets(windows: tuple[Windows, ...]) -> Iterator[tuple[int, ...]]:
    """Yield where in a window each of its elements is."""
    return itertools.product(*(range(0, w.reach, w.dilation) for w in windows))
