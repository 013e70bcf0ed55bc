"""Replace DFT by a product with a constant matrix.

What it does: The axis is moved to the end, real and imaginary parts lie side by side, and one
    MatMul with the cosines and sines of the transform gives the spectrum. Forward and inverse, real
    and complex signals, one-sided spectra and real signals from them, shorter and longer transforms
    than the signal.
Why engines need it: TensorRT and most other engines have no DFT.
Before: y = DFT <axis = 1, onesided = 1> (x)             x: float[B, 16, 1]
After: y = Reshape (MatMul (Reshape (x, [B, 16]), matrix[16, 18]), [B, 9, 2])
When it refuses: The length of the axis or of the transform, the axis, the rank or the type is not
    known, the matrix would have more than max_elements elements, a one-sided transform is of
    complex numbers, or the inverse of one is of real numbers, of no length, or of other than half
    the length and one bins: ONNX leaves bins out or fills them up then, and onnxruntime computes
    something else.
Accuracy: Exact up to rounding: the matrix is computed in float64 and rounded to the type, and sums
    run in another order than in a fast transform. One infinite number or NaN makes NaN of all bins
    of its signal. float16 and bfloat16 are computed in float32.
References: https://onnx.ai/onnx/operators/onnx__DFT.html
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    Builder,
    NodeView,
    Option,
    Refuse,
    Value,
    need_rank,
    need_type,
    rewrite,
)

from ._fourier import axis_of, fourier_matrix, real_inverse_matrix

_LOW = (TensorProto.FLOAT16, TensorProto.BFLOAT16)
_FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE, *_LOW)


def _length(node: NodeView, build: Builder, size: int, *, to_real: bool) -> int:
    given = node.input(1)
    if given is None:
        return 2 * (size - 1) if to_real else size
    return int(build.need_const(given, "the length of the transform").reshape(()))


@rewrite(
    "DFT",
    removes="op:DFT attr:DFT.*",
    emits="Cast MatMul Reshape Slice Transpose",
    options={"max_elements": Option(int, 1 << 24, "Larger matrices are refused.")},
)
def dft_to_matmul(node: NodeView, build: Builder) -> Value:
    """Multiply by the matrix of the transform, see the module."""
    x = node.need(0)
    rank = need_rank(x)
    need_type(x, _FLOATS)
    axis = axis_of(node, build, rank)
    size, parts = x.dim(axis), x.dim(-1)
    if not size or parts not in (1, 2):
        raise Refuse(f"the length of axis {axis} and the number of parts must be known")
    inverse, half = bool(node.attr("inverse", 0)), bool(node.attr("onesided", 0))
    to_real = half and inverse
    length = _length(node, build, size, to_real=to_real)
    if half and parts != 1 + inverse:
        wanted = "an inverse one-sided transform must be of pairs; these are real numbers"
        forward = "a one-sided transform must be of real numbers; these are complex"
        raise Refuse(wanted if inverse else forward)
    one_side = length // 2 + 1
    if to_real and (length < 1 or size != one_side):
        raise Refuse(
            "the bins must be those of one side of a signal; for a length of "
            f"{length} there are {size}"
        )
    bins = one_side if half and not inverse else length
    rows = size if to_real else min(size, length)
    kept = 1 if to_real else 2
    if rows * parts * bins * kept > build.option("max_elements"):
        raise Refuse(
            "the matrix must have at most max_elements elements; it would have "
            f"{rows * parts * bins * kept}"
        )
    if to_real:
        matrix = real_inverse_matrix(rows, length)
    else:
        matrix = fourier_matrix(rows, length, bins, complex_input=parts == 2, inverse=inverse)
    wide = build.Cast(x, to=TensorProto.FLOAT) if x.elem_type in _LOW else x
    if rows < size:
        wide = build.Slice(wide, starts=[0], ends=[rows], axes=[axis])
    order = [*(k for k in range(rank - 1) if k != axis), axis, rank - 1]
    moved = order != sorted(order)
    if moved:
        wide = build.Transpose(wide, perm=order)
    # 0 copies the size of an axis in front, known or not.
    front = [0] * (rank - 2)
    flat = build.Reshape(wide, [*front, rows * parts])
    weights = matrix.reshape(*(1,) * (rank - 3), *matrix.shape)
    result = build.MatMul(flat, weights.astype(wide.dtype or np.float32))
    result = build.Reshape(result, [*front, bins, kept])
    if moved:
        result = build.Transpose(result, perm=[order.index(k) for k in range(rank)])
    return build.Cast(result, to=x.elem_type) if x.elem_type in _LOW else result
