"""Which pixel a sliding window reads where, for im2col and col2im."""

import numpy as np
from msgspec import Struct

from graphfix.authoring import Array, Builder, Refuse, Value

from ._arguments import ArrayCall, Call

LARGEST = 1 << 24
GEOMETRY = ("kernel_size", "dilation", "padding", "stride")


class Windows(Struct, frozen=True):
    """Windows that slide over images.

    Attributes:
        kernel: Height and width of a window, in samples.
        dilation: Distance of the samples.
        padding: Rows and columns of zeros around the image.
        stride: Distance of the windows.
    """

    kernel: tuple[int, int]
    dilation: tuple[int, int]
    padding: tuple[int, int]
    stride: tuple[int, int]

    def counts(self, image: tuple[int, int]) -> tuple[int, int]:
        """Return how many windows fit, down and across; zero or less where none does."""
        spans = zip(image, self.kernel, self.dilation, self.padding, self.stride, strict=True)
        down, across = ((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, d, p, s in spans)
        return down, across

    @property
    def samples(self) -> int:
        """How many samples a window has."""
        return self.kernel[0] * self.kernel[1]

    def places(self, image: tuple[int, int]) -> Array:
        """Return the pixel that each sample of each window reads: int64 [samples, windows].

        Pixels are counted row by row; one past the last stands for the zeros around.
        """
        lines: list[Array] = []
        for axis, count in enumerate(self.counts(image)):
            sample: Array = np.arange(self.kernel[axis]) * self.dilation[axis]
            window: Array = np.arange(count) * self.stride[axis] - self.padding[axis]
            lines.append(sample[:, None] + window[None, :])
        down, across = lines[0][:, None, :, None], lines[1][None, :, None, :]
        inside = (down >= 0) & (down < image[0]) & (across >= 0) & (across < image[1])
        flat = np.where(inside, down * image[1] + across, image[0] * image[1])
        return flat.reshape(self.samples, -1).astype(np.int64)


def _pair(given: tuple[object, ...] | None, name: str) -> tuple[int, int]:
    entries = tuple(int(str(entry)) for entry in given or ())
    if len(entries) == 1:
        entries *= 2
    low = 0 if name == "padding" else 1
    if len(entries) != 2 or min(entries) < low:
        raise Refuse(f"{name} must be two numbers of at least {low}; it is {list(entries)}")
    return entries[0], entries[1]


def windows_of(call: Call) -> Windows:
    """Read the geometry of a call.

    Raises:
        Refuse: It is computed at run time or does not make sense.
    """
    return Windows(*(_pair(call.integers(name), name) for name in GEOMETRY))


def windows_of_arrays(call: ArrayCall) -> Windows:
    """Read the geometry of a call on arrays.

    Raises:
        Refuse: It does not make sense.
    """
    return Windows(*(_pair(call.entries(name), name) for name in GEOMETRY))


def with_zero(build: Builder, x: Value, places: Array) -> Value:
    """Return `x`, [N, C, S], with a zero after where `places` reads element S."""
    size = x.dim(2)
    assert size is not None  # the callers have made the shape
    if not (places == size).any():
        return x
    batches, channels = x.dim(0), x.dim(1)
    if batches is not None and channels is not None:
        return build.Concat(x, np.zeros((batches, channels, 1), dtype=x.dtype), axis=2)
    return build.Pad(x, pads=[0, 0, 0, 0, 0, 1], mode="constant")
