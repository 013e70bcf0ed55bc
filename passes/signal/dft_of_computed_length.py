"""Replace DFT of a length computed at run time by products with matrices computed there.

What it does: Counts the bins with Range, computes the cosines and sines of all pairs of sample and
    bin, and multiplies. Samples after the length count as 0. `dft-to-matmul` does the same with
    constants where the length is known.
Why engines need it: TensorRT and most other engines have no DFT.
Before: y = DFT <axis = 1> (x, length)                   x: float[B, 16, 1]
After:
    bins = Range (0, length, 1)
    angle = Mul (bins * {0, ..., 15} modulo length, 2 pi / length)
    y = Concat (MatMul (x, Cos (angle)), Neg (MatMul (x, Sin (angle))))
When it refuses: The length is a constant or left out, the axis or its size is unknown, only one
    side is wanted, or the type is not float32.
Accuracy: Exact up to rounding: the angles are fractions of a turn in float32, and sums run in
    another order than in a fast transform. One infinite number or NaN makes NaN of all bins of its
    signal, where a fast transform may give infinities.
References: https://onnx.ai/onnx/operators/onnx__DFT.html
"""

import math

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._fourier import axis_of

_MAX_SIZE = 1 << 12


@rewrite(
    "DFT",
    removes="op:DFT",
    emits=(
        "Add Cast Concat Cos Div Less MatMul Mul Neg Range Reshape Sin Slice Squeeze Sub Transpose "
        "Unsqueeze Where"
    ),
)
def dft_of_computed_length(node: NodeView, build: Builder) -> Value:
    """Multiply by computed matrices, see the module."""
    x, given = node.need(0), node.input(1)
    if given is None or build.const(given) is not None:
        raise Refuse("the length of the transform must be computed at run time; it is known")
    if x.rank is None or x.elem_type != TensorProto.FLOAT:
        raise Refuse(f"the rank of {x.name} must be known and its dtype float32")
    axis = axis_of(node, build, x.rank)
    size, parts = x.dim(axis), x.dim(-1)
    if not size or size > _MAX_SIZE or parts not in (1, 2) or node.attr("onesided", 0):
        raise Refuse("the size of the axis and of the numbers must be known, and both sides wanted")
    order = [*(k for k in range(x.rank - 1) if k != axis), axis, x.rank - 1]
    moved = build.Transpose(x, perm=order) if order != sorted(order) else x
    length = build.Cast(given, to=TensorProto.INT64)
    if given.rank != 0:
        length = build.Reshape(length, [])
    cosines, sines = _tables(build, length, size)
    turns_back = bool(node.attr("inverse", 0))
    columns = [_part(build, moved, part) for part in range(parts)]
    real, turned = (build.MatMul(columns[0], table) for table in (cosines, sines))
    # e^(-it) = cos t - i sin t; the inverse has +i, and is divided by the length.
    imaginary = turned if turns_back else build.Neg(turned)
    if parts == 2:
        across = build.MatMul(columns[1], sines)
        real = build.Sub(real, across) if turns_back else build.Add(real, across)
        imaginary = build.Add(build.MatMul(columns[1], cosines), imaginary)
    both = [build.Unsqueeze(value, axes=[x.rank - 1]) for value in (real, imaginary)]
    result = build.Concat(*both, axis=x.rank - 1)
    if turns_back:
        result = build.Div(result, build.Cast(length, to=TensorProto.FLOAT))
    if order != sorted(order):
        result = build.Transpose(result, perm=[order.index(k) for k in range(x.rank)])
    return result


def _part(build: Builder, x: Value, part: int) -> Value:
    rank = x.rank or 0
    one = build.Slice(x, starts=[part], ends=[part + 1], axes=[rank - 1])
    return build.Squeeze(one, axes=[rank - 1])


def _tables(build: Builder, length: Value, size: int) -> tuple[Value, Value]:
    """Return cosines and sines for each sample and bin: [size, length]."""
    bins = build.Range(np.int64(0), length, np.int64(1))
    samples = build.constant(np.arange(size, dtype=np.int64).reshape(-1, 1))
    pairs = build.Mul(samples, bins)
    # Whole turns go while the numbers are integers; what is left is below one turn.
    rest = build.Sub(pairs, build.Mul(build.Div(pairs, length), length))
    share = build.Div(
        build.Cast(rest, to=TensorProto.FLOAT), build.Cast(length, to=TensorProto.FLOAT)
    )
    angle = build.Mul(share, np.float32(2 * math.pi))
    inside = build.Less(samples, length)
    zero = np.float32(0)
    cosines, sines = build.Cos(angle), build.Sin(angle)
    return build.Where(inside, cosines, zero), build.Where(inside, sines, zero)
