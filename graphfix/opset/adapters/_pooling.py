"""Where the windows of a pool lie, and sums over them where an older pool has other windows.

References: the formulas for output sizes of AveragePool-22, MaxPool-22 and LpPool-22 in
onnx/defs/nn/defs.cc; in onnx/reference/ops/op_pool_common.py, that with count_include_pad the pads
are counted, and what ceil_mode adds after them is not.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from graphfix.authoring import Builder, NodeView, Refuse, Value


class Axis(Struct, frozen=True):
    """One spatial axis of a pool.

    Attributes:
        size: Of the input.
        kernel: How many elements a window has.
        stride: From one window to the next.
        dilation: From one element of a window to the next.
        begin: Pads in front.
        end: Pads after, as they are given.
        windows: How many there are.
    """

    size: int
    kernel: int
    stride: int
    dilation: int
    begin: int
    end: int
    windows: int

    @property
    def reach(self) -> int:
        """How many elements a window spans."""
        return self.dilation * (self.kernel - 1) + 1

    @property
    def needed(self) -> int:
        """The pads after with which the windows fit without ceil_mode."""
        return max(0, (self.windows - 1) * self.stride + self.reach - self.size - self.begin)

    def counts(self, *, pads: bool) -> list[int]:
        """Return how many elements of each window lie in the input, or in its pads as well."""
        low = -self.begin if pads else 0
        high = self.size + (self.end if pads else 0)
        return [
            sum(low <= first + step * self.dilation < high for step in range(self.kernel))
            for first in (w * self.stride - self.begin for w in range(self.windows))
        ]


def axes_of_pool(node: NodeView) -> list[Axis]:
    """Return where the windows lie; those that would start after the input are not there.

    Raises:
        Refuse: A size is unknown, no window fits, or the pads depend on the input (auto_pad).
    """
    if node.attr("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        raise Refuse(f"auto_pad must be NOTSET or VALID; it is {node.attr('auto_pad')}")
    kernel = list(node.attr("kernel_shape"))
    count = len(kernel)
    strides = node.attr("strides", [1] * count)
    dilations = node.attr("dilations", [1] * count)
    pads = node.attr("pads", [0] * (2 * count))
    if node.attr("auto_pad", "NOTSET") == "VALID" and any(pads):
        raise Refuse(
            "there must be no pads next to auto_pad; onnxruntime drops them, ONNX adds them"
        )
    found: list[Axis] = []
    for at in range(count):
        size = node.need(0).dim(at + 2)
        if size is None:
            raise Refuse(f"the size of spatial axis {at} must be known")
        begin, end, stride = pads[at], pads[at + count], strides[at]
        room = size + begin + end - dilations[at] * (kernel[at] - 1) - 1
        windows = room // stride + 1
        if node.attr("ceil_mode", 0):
            windows = -(-room // stride) + 1
            if (windows - 1) * stride >= size + begin:
                windows -= 1
        if windows < 1:
            raise Refuse(
                f"windows must fit into spatial axis {at}; one is larger, and Conv gives nothing "
                "there"
            )
        found.append(Axis(size, kernel[at], stride, dilations[at], begin, end, windows))
    return found


def pads_of(axes: list[Axis]) -> list[int]:
    """Return the pads with which the windows fit without ceil_mode."""
    return [axis.begin for axis in axes] + [axis.needed for axis in axes]


def window_sums(x: Value, axes: list[Axis], build: Builder) -> Value:
    """Add up the elements of each window, pads as 0: a Conv of each channel with ones.

    Raises:
        Refuse: The number of channels or the dtype is unknown.
    """
    channels = x.dim(1)
    if channels is None or x.dtype is None:
        raise Refuse("the number of channels and the dtype of the input must be known")
    kernel = [axis.kernel for axis in axes]
    return build.Conv(
        x,
        build.constant(np.ones([channels, 1, *kernel], dtype=x.dtype)),
        group=channels,
        kernel_shape=kernel,
        strides=[axis.stride for axis in axes],
        dilations=[axis.dilation for axis in axes],
        pads=pads_of(axes),
    )


def averages(node: NodeView, build: Builder) -> Value:
    """Compute AveragePool: sums over the windows, divided by what each window counts."""
    x, axes = node.need(0), axes_of_pool(node)
    counts = np.ones([1, 1], dtype=np.int64)
    for axis in axes:
        line = np.array(axis.counts(pads=bool(node.attr("count_include_pad", 0))))
        counts = counts[..., None] * line
    sums = window_sums(x, axes, build)
    assert x.dtype is not None
    return build.Div(sums, build.constant(counts.astype(x.dtype)))


def norms(node: NodeView, build: Builder) -> Value:
    """Compute LpPool: the root of the sum of powers over each window."""
    x, power = node.need(0), int(node.attr("p", 2))
    axes = axes_of_pool(node)
    if power == 1:
        return window_sums(build.Abs(x), axes, build)
    if power == 2:
        return build.Sqrt(window_sums(build.Mul(x, x), axes, build))
    sums = window_sums(build.Pow(build.Abs(x), float(power)), axes, build)
    return build.Pow(sums, 1.0 / power)
