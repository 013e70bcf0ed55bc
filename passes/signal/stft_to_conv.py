"""Replace STFT by a convolution.

What it does: The cosines and sines of the transform, times the window, are the filters of a Conv
    whose stride is the step between frames. Real and complex signals, one-sided spectra, signals of
    any length.
Why engines need it: TensorRT and most other engines have no STFT.
Before: y = STFT <onesided = 1> (x, 4, window[16])          x: float[B, L, 1]
After:
    y = Reshape (Transpose (Conv <strides = [1, 4]> (x as [B, 1, 1, L], filters[18, 1, 1, 16])),
                 [B, -1, 9, 2])
When it refuses: The step, the window or the length of a frame is computed at run time, the frame
    and the window differ in length, the number of parts is unknown, the type is not float or
    float16, or a one-sided transform is of complex numbers.
Accuracy: Exact up to rounding: filters are computed in float64 and rounded to float32, and sums run
    in another order than in a fast transform. One infinite number or NaN makes NaN of all bins of
    its frame. float16 is computed in float32.
References: https://onnx.ai/onnx/operators/onnx__STFT.html
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, NodeView, Option, Refuse, Value, need_type, rewrite

from ._fourier import fourier_matrix


def _frame(node: NodeView, build: Builder) -> Array:
    """Return the window, ones where there is none."""
    given, length = node.input(2), node.input(3)
    size = None
    if length is not None:
        size = int(build.need_const(length, "the length of a frame").reshape(()))
    if given is None:
        if size is None:
            raise Refuse("window or frame_length must be given; neither is")
        return np.ones(size)
    window = build.need_const(given, "the window").astype(np.float64).reshape(-1)
    if size is not None and size != len(window):
        raise Refuse(
            f"the window must have as many entries as a frame, {size}; it has {len(window)}"
        )
    return window


@rewrite(
    "STFT",
    removes="op:STFT",
    emits="Cast Conv Reshape Squeeze Transpose Unsqueeze",
    options={"max_elements": Option(int, 1 << 24, "Larger filters are refused.")},
)
def stft_to_conv(node: NodeView, build: Builder) -> Value:
    """Convolve with the windowed transform, see the module."""
    x = node.need(0)
    need_type(x, (TensorProto.FLOAT, TensorProto.FLOAT16))
    parts = x.dim(2) if x.rank == 3 else 1
    if x.rank not in (2, 3) or parts not in (1, 2):
        raise Refuse(
            f"{x.name} must have rank 2, or rank 3 with 1 or 2 parts; its shape is {x.shape}"
        )
    step = int(build.need_const(node.need(1), "the step").reshape(()))
    window = _frame(node, build)
    half, length = bool(node.attr("onesided", 1)), len(window)
    if half and parts == 2:
        raise Refuse("a one-sided transform must be of real numbers; these are complex")
    if step < 1 or not length:
        raise Refuse(f"the step must be at least 1 and the frame not empty; the step is {step}")
    bins = length // 2 + 1 if half else length
    if length * parts * bins * 2 > build.option("max_elements"):
        raise Refuse(
            "the filters must have at most max_elements elements; they would have "
            f"{length * parts * bins * 2}"
        )
    matrix = fourier_matrix(length, length, bins, complex_input=parts == 2, inverse=False)
    filters = matrix.reshape(length, parts, bins * 2) * window[:, None, None]
    kernel = np.ascontiguousarray(filters.transpose(2, 1, 0))[:, :, None, :]
    wide = build.Cast(x, to=TensorProto.FLOAT) if x.elem_type == TensorProto.FLOAT16 else x
    rows = build.Transpose(wide, perm=[0, 2, 1]) if x.rank == 3 else build.Unsqueeze(wide, axes=[1])
    image = build.Unsqueeze(rows, axes=[2])
    spectrum = build.Conv(
        image, kernel.astype(np.float32), kernel_shape=[1, length], strides=[1, step]
    )
    lines = build.Transpose(build.Squeeze(spectrum, axes=[2]), perm=[0, 2, 1])
    result = build.Reshape(lines, [0, 0, bins, 2])
    return build.Cast(result, to=x.elem_type) if x.elem_type == TensorProto.FLOAT16 else result
