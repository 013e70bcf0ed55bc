"""Replace a MaxPool with dilations by the maximum of strided slices.

What it does:
One Slice per point of the kernel, each with the strides of the pool as steps, and one Max over
them. A Pad with the lowest finite number of the type comes first where the pool pads.
Why engines need it: TensorRT refuses dilations other than 1 on pooling ("Assertion failed:
    (dilations[i] == 1)").
Before: y = MaxPool <kernel_shape = [2], dilations = [3], strides = [2]> (x)    with x [1, 8, 32]
After:
    a = Slice <from 0 to 29, steps 2> (x)
    b = Slice <from 3 to 32, steps 2> (x)
    y = Max (a, b)
When it refuses:
Dilations of 1; the indices output; ceil_mode where a size is not known; types other than float32,
float64 and float16; a kernel of more than `max_points` points; a window that lies in the padding as
a whole, where engines differ: where a size is known only at run time, padding of more than half of
the window.
Accuracy:
exact: the same maxima. A NaN wins over numbers in Max, while engines differ on NaN in MaxPool; a
window of minus infinity and padding gives the lowest finite number, and so does a window that finds
nothing but padding because an axis of a size known at run time is shorter than a dilation (as in
onnxruntime).

References:
https://onnx.ai/onnx/operators/onnx__MaxPool.html;
onnx-tensorrt onnx2trt_utils.cpp (getKernelParams), release 8.6.
"""

import itertools
from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from graphfix.authoring import FAR, Builder, NodeView, Option, Refuse, Value, rewrite


class Window(Struct, frozen=True):
    """The pool along one axis: padding before and after, and the size of the output if known."""

    kernel: int
    stride: int
    dilation: int
    size: int | None
    before: int
    after: int

    def end(self, point: int) -> int:
        """Return where the slice of a point ends; from the back where no size is known."""
        if self.size is not None:
            return point * self.dilation + (self.size - 1) * self.stride + 1
        return -(self.kernel - 1 - point) * self.dilation or FAR


@rewrite(
    "MaxPool",
    removes="attr:MaxPool.dilations",
    emits="Pad Slice Max",
    since=10,
    options={"max_points": Option(int, 49, "Largest kernel that is unrolled, in points.")},
)
def maxpool_dilations_to_max(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Replace a dilated MaxPool by Max over Slices."""
    x = node.need(0)
    indices = node.output(1)
    if indices is not None and indices.is_used:
        raise Refuse("the Indices output must be unused; a node or the graph reads it")
    if x.type_name not in ("float32", "float64", "float16") or x.dtype is None:
        raise Refuse(f"the input must be float32, float64 or float16; it is {x.type_name}")
    windows = _windows(node, x)
    _need_agreement(node, windows)
    points = list(itertools.product(*(range(w.kernel) for w in windows)))
    if len(points) > int(build.option("max_points")):
        raise Refuse(f"the kernel must have at most max_points points; it has {len(points)}")
    value = x
    if any(w.before or w.after for w in windows):
        lowest = np.array(np.finfo(x.dtype).min, dtype=x.dtype)
        value = _padded(build, x, windows, lowest)
    axes = [2 + place for place in range(len(windows))]
    slices: list[Value] = []
    for point in points:
        starts = [p * w.dilation for p, w in zip(point, windows, strict=True)]
        ends = [w.end(p) for p, w in zip(point, windows, strict=True)]
        steps = [w.stride for w in windows]
        slices.append(build.Slice(value, starts=starts, ends=ends, axes=axes, steps=steps))
    result = build.Max(*slices) if len(slices) > 1 else slices[0]
    return (result,) if len(node.outputs) < 2 else (result, None)


def _need_agreement(node: NodeView, windows: Sequence[Window]) -> None:
    """Check that no one counts a last window that starts after the data, as onnx infers it.

    Raises:
        Refuse: A size is known to be another one.
    """
    result = node.output(0)
    for place, window in enumerate(windows):
        known = None if result is None else result.dim(2 + place)
        if None not in (known, window.size) and known != window.size:
            raise Refuse(f"the result must have {window.size} windows; {known} are declared")


def _padded(build: Builder, x: Value, windows: Sequence[Window], lowest: np.ndarray) -> Value:
    pads = [0, 0, *(w.before for w in windows), 0, 0, *(w.after for w in windows)]
    if build.opset < 11:
        return build.Pad(x, mode="constant", pads=pads, value=float(lowest))
    return build.Pad(x, pads, lowest, mode="constant")


def _windows(node: NodeView, x: Value) -> list[Window]:
    kernel = [int(k) for k in node.attr("kernel_shape")]
    count = len(kernel)
    if x.rank != count + 2:
        raise Refuse(f"the rank of the input must be {count + 2}; it is {x.rank}")
    dilations = [int(d) for d in node.attr("dilations", [1] * count)]
    if all(d == 1 for d in dilations):
        raise Refuse("there must be dilations; there are none")
    strides = [int(s) for s in node.attr("strides", [1] * count)]
    pads = [int(p) for p in node.attr("pads", [0] * 2 * count)]
    automatic = node.attr("auto_pad", "NOTSET")
    if automatic not in ("NOTSET", "VALID"):
        raise Refuse("the pads must be written; they are computed (auto_pad)")
    if automatic == "VALID" and any(pads):
        raise Refuse(
            "there must be no pads next to auto_pad; onnxruntime drops them, ONNX adds them"
        )
    sticks_out = bool(node.attr("ceil_mode", 0))
    if any(p < 0 for p in pads):
        raise Refuse("the pads must not be negative; one is")
    found: list[Window] = []
    for place in range(count):
        window = Window(
            kernel[place], strides[place], dilations[place], None, pads[place], pads[count + place]
        )
        found.append(_sized(window, x.dim(2 + place), sticks_out=sticks_out))
    return found


def _sized(window: Window, length: int | None, *, sticks_out: bool) -> Window:
    """Return the window with the size of its output, if no part of it reads padding alone.

    Where the last one may hang over the edge, the padding reaches as far as it does.
    """
    span = (window.kernel - 1) * window.dilation + 1
    if length is None:
        if sticks_out:
            raise Refuse("the sizes must be known where windows hang over the edge (ceil_mode)")
        if max(window.before, window.after) > span // 2:
            raise Refuse(
                f"pads of an axis of unknown size must be at most {span // 2};"
                f" they are {window.before} and {window.after}"
            )
        return window
    room = length + window.before + window.after - span
    size = room // window.stride + 1
    if (
        sticks_out
        and room >= 0
        and room % window.stride
        and size * window.stride < length + window.before
    ):
        after = window.after + window.stride - room % window.stride
        window, size = replace(window, after=after), size + 1
    if size < 1:
        raise Refuse("the output must not be empty; it is")
    if not all(_meets_input(window, length, position) for position in range(size)):
        raise Refuse("each window must meet the input; one lies in the padding as a whole")
    return replace(window, size=size)


def _meets_input(window: Window, length: int, position: int) -> bool:
    first = position * window.stride - window.before
    return any(0 <= first + point * window.dilation < length for point in range(window.kernel))
