"""Take Rfft and Irfft apart.

What it does: Multiplies by matrices of cosines and sines: the last axis of the signal first (Rfft)
    or last (Irfft), and for signals of two axes the other one by a product from the left.
Why engines need it: They are operators of onnxruntime for graphics processors; other engines do not
    know them, and onnxruntime itself does not have them on a CPU.
Before: y = com.microsoft.Rfft <signal_ndim = 1, onesided = 1> (x)             # x: [N, 8]
After: y = Reshape (MatMul (x, matrix of [8, 10]), [N, 5, 2])
When it refuses: A size of the signal or the rank is unknown, the signal has more than two axes, or
    the spectrum is normalised or has two sides, which onnxruntime does not have either.
Accuracy: Exact up to the order of summation; float16 is computed in float32.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.Rfft, com.microsoft.Irfft;
    onnxruntime/contrib_ops/cuda/math/fft_ops.cc (the inverse is divided by the length)
"""

from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, rewrite

from ._means import like, wide
from ._typing import need_float

_FORWARD, _INVERSE = "com.microsoft::Rfft", "com.microsoft::Irfft"
_LONGEST = 4096
_EMITS = "Add Cast Concat MatMul Reshape Shape Split Sub Squeeze Unsqueeze"


def forward(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Transform in float64."""
    x = np.asarray(inputs[0], np.float64)
    axes = tuple(range(-int(attributes.get("signal_ndim", 1)), 0))
    found = np.fft.rfftn(x, axes=axes)
    return (np.stack([found.real, found.imag], -1).astype(np.asarray(inputs[0]).dtype),)


def inverse(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Transform back in float64."""
    x = np.asarray(inputs[0], np.float64)
    axes = tuple(range(-int(attributes.get("signal_ndim", 1)), 0))
    found = np.fft.irfftn(x[..., 0] + 1j * x[..., 1], axes=axes)
    return (np.asarray(found).astype(np.asarray(inputs[0]).dtype),)


@rewrite(_FORWARD, emits=_EMITS, evaluate=forward)
def real_fourier_to_matmul(node: NodeView, build: Builder) -> Value:
    """Multiply by cosines and sines, see the module."""
    x = node.need(0)
    axes = _axes(node, x, parts=0)
    size = _size(x, -1)
    angle = 2 * np.pi * np.outer(np.arange(size), np.arange(size // 2 + 1)) / size
    data = wide(build, x)
    real, imaginary = (build.MatMul(data, _matrix(f(angle))) for f in (np.cos, _minus_sin))
    if axes == 2:
        real, imaginary = _turned(build, (real, imaginary), _size(x, -2), back=False)
    pair = [build.Unsqueeze(part, axes=[x.rank]) for part in (real, imaginary)]
    return like(build, x, build.Concat(*pair, axis=x.rank))


@rewrite(_INVERSE, emits=_EMITS, evaluate=inverse)
def inverse_real_fourier_to_matmul(node: NodeView, build: Builder) -> Value:
    """Take Irfft apart: products with cosines and sines, back to the signal."""
    x = node.need(0)
    axes = _axes(node, x, parts=1)
    assert x.rank is not None  # looked at before
    bins = _size(x, -2)
    size = 2 * (bins - 1)
    halves = build.multi("Split", wide(build, x), outputs=2, axis=x.rank - 1, split=[1, 1])
    real, imaginary = (build.Squeeze(part, axes=[x.rank - 1]) for part in halves)
    if axes == 2:
        real, imaginary = _turned(build, (real, imaginary), _size(x, -3), back=True)
    angle = 2 * np.pi * np.outer(np.arange(bins), np.arange(size)) / size
    # The bins between the first and the last stand for those of the other side, too.
    weight = np.full((bins, 1), 2.0)
    weight[[0, -1]] = 1.0
    first = build.MatMul(real, _matrix(weight * np.cos(angle) / size))
    second = build.MatMul(imaginary, _matrix(weight * _minus_sin(angle) / size))
    return like(build, x, build.Add(first, second))


def _turned(
    build: Builder, parts: tuple[Value, Value], size: int, *, back: bool
) -> tuple[Value, Value]:
    """Transform the axis before the last by products from the left."""
    angle = 2 * np.pi * np.outer(np.arange(size), np.arange(size)) / size
    scale = 1 / size if back else 1.0
    cos, sin = _matrix(np.cos(angle) * scale), _matrix(np.sin(angle) * (-scale if back else scale))
    (a, b), (c, d) = (
        [build.MatMul(build.constant(matrix), part) for matrix in (cos, sin)] for part in parts
    )
    return build.Add(a, d), build.Sub(c, b)


def _minus_sin(angle: Array) -> Array:
    return np.asarray(-np.sin(angle))


def _matrix(numbers: Array) -> Array:
    return numbers.astype(np.float32)


def _axes(node: NodeView, x: Value, parts: int) -> int:
    """Return how many axes the signal has.

    Raises:
        Refuse: More than two, or there is no form for what is asked.
    """
    need_float(x)
    axes = int(node.attr("signal_ndim", 1))
    if axes not in (1, 2) or x.rank is None or x.rank < axes + parts:
        raise Refuse(f"the signal must have one or two axes of a known rank; it has {axes}")
    if int(node.attr("normalized", 0)) or not int(node.attr("onesided", 1)):
        raise Refuse("the spectrum must have one side and not be normalised; it is otherwise")
    return axes


def _size(x: Value, axis: int) -> int:
    size = x.dim(axis)
    if not size or size > _LONGEST:
        raise Refuse(f"the signal must be of known length, at most {_LONGEST}; it is of {size}")
    return size
