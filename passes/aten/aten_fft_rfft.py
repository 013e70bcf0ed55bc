"""Replace the real Fourier transform and view_as_real by a product with a constant matrix.

What it does: Complex numbers have no place in ONNX's operators, so that the two nodes are replaced
    together: one MatMul with cosines and sines gives real and imaginary parts side by side. A
    transform that is shorter or longer than the signal cuts it or counts zeros after it; the three
    norms are in the matrix.
Why engines need it: ONNX has DFT since opset 17, which engines do not know, and PyTorch's exporter
    writes ATen nodes.
Before:
    c = org.pytorch.aten.ATen <operator = "fft_rfft"> (x, None, -1, None)   # x: float[2, 16]
    y = org.pytorch.aten.ATen <operator = "view_as_real"> (c)
After: y = Reshape (MatMul (x, matrix[16, 18]), [0, 9, 2])
When it refuses: Something else than view_as_real uses the complex numbers, or they come from
    another operator; an argument is computed at run time; the rank, the type or the size of the
    axis is unknown; the matrix would have more elements than the option `max_elements` allows.
Accuracy: Exact up to rounding: the matrix is computed in float64 and rounded to the type, and sums
    run in another order than in a fast transform. float16 is computed in float32.
References: pytorch/pytorch aten/src/ATen/native/SpectralOps.cpp (fft_rfft);
    https://onnx.ai/onnx/operators/onnx__MatMul.html
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    Array,
    Builder,
    InferredType,
    NodeView,
    Option,
    Refuse,
    Value,
    need_type,
    operator_of,
)

from ._arguments import ArrayCall, Call, call_of, replacing
from ._axes import widened

NAMES = ("fft_rfft", "view_as_real")
SCHEMA = ("self", "n", "dim", "norm")
SCHEMAS = {"fft_rfft": SCHEMA, "view_as_real": ("self",)}
_COMPLEX: dict[int, int] = {
    TensorProto.FLOAT16: TensorProto.COMPLEX64,
    TensorProto.FLOAT: TensorProto.COMPLEX64,
    TensorProto.DOUBLE: TensorProto.COMPLEX128,
}
_REAL: dict[int, int] = {
    TensorProto.COMPLEX64: TensorProto.FLOAT,
    TensorProto.COMPLEX128: TensorProto.DOUBLE,
}


def _scale(norm: str, length: int) -> float:
    factors = {"": 1.0, "backward": 1.0, "forward": 1 / length, "ortho": 1 / math.sqrt(length)}
    if norm not in factors:
        raise Refuse(f"the norm must be one of {', '.join(map(repr, factors))}; it is {norm!r}")
    return factors[norm]


def _read(call: Call) -> tuple[Value, int, int, int, str]:
    """Return the signal, its axis and length, the length of the transform, and the norm."""
    x, dim = call.need("self"), int(call.number("dim", -1))
    if not x.rank or not -x.rank <= dim < x.rank:
        raise Refuse(f"the rank of {x.name} must be known and have axis {dim}")
    need_type(x, _COMPLEX)
    size = x.dim(dim)
    if not size:
        raise Refuse(f"the size of axis {dim} of {x.name} must be known and not 0")
    length = int(call.number("n", size))
    if length < 1:
        raise Refuse(f"the length of the transform must be at least 1; it is {length}")
    return x, dim % x.rank, size, length, call.text("norm", "")


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """Complex numbers for half the axis, and pairs of real numbers for those."""
    call = call_of(node, SCHEMAS)
    if call.operator == "fft_rfft":
        x, axis, _, length, _ = _read(call)
        shape = list(x.shape or ())
        shape[axis] = length // 2 + 1
        return (InferredType(_COMPLEX[x.elem_type], tuple(shape)),)
    found = call.need("self")
    real = _REAL.get(found.elem_type)
    if real is None:
        return (None,)
    return (InferredType(real, None if found.shape is None else (*found.shape, 2)),)


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Transform real numbers with numpy, and take complex ones apart."""
    call = ArrayCall(inputs, attributes, SCHEMA)
    x = call.need("self")
    if np.iscomplexobj(x):
        return (np.stack([x.real, x.imag], axis=-1),)
    axis, length = int(call.number("dim", -1)), call.number("n", None)
    wanted = x.shape[axis] if length is None else int(length)
    result = np.fft.rfft(x.astype(np.float64), n=wanted, axis=axis)
    result *= _scale(call.number("norm", None) or "", wanted)
    return (result.astype(np.complex128 if x.dtype == np.float64 else np.complex64),)


def transform(rows: int, length: int) -> Array:
    """Return the matrix from `rows` samples to pairs for half of `length`: [rows, pairs * 2]."""
    # Whole turns are taken off as integers, so that large angles are exact.
    turns = np.outer(np.arange(rows), np.arange(length // 2 + 1)) % length
    angle = turns * (2 * np.pi / length)
    return np.stack([np.cos(angle), -np.sin(angle)], axis=-1).reshape(rows, -1)


@replacing(
    NAMES,
    emits="Cast MatMul Reshape Slice Transpose",
    options={"max_elements": Option(int, 1 << 24, "Larger matrices are refused.")},
    infer=infer,
    evaluate=evaluate,
)
def aten_fft_rfft(node: NodeView, build: Builder) -> Value:
    """Multiply by the matrix of the transform, see the module."""
    outer = call_of(node, SCHEMAS)
    if outer.operator == "fft_rfft":
        raise Refuse(_why_alone(node))
    producer = outer.need("self").producer
    if producer is None or operator_of(producer)[0] != "fft_rfft":
        raise Refuse("the complex numbers must come from fft_rfft; they do not")
    x, axis, size, length, norm = _read(call_of(producer, SCHEMAS))
    rank, rows, bins = x.rank or 0, min(size, length), length // 2 + 1
    if rows * bins * 2 > build.option("max_elements"):
        raise Refuse(
            f"the matrix must have at most max_elements elements; it would have {rows * bins * 2}"
        )
    matrix = transform(rows, length) * _scale(norm, length)
    order = [*(k for k in range(rank) if k != axis), axis]

    def work(signal: Value) -> Value:
        if rows < size:
            signal = build.Slice(signal, starts=[0], ends=[rows], axes=[axis])
        if axis != rank - 1:
            signal = build.Transpose(signal, perm=order)
        if rank == 1:
            signal = build.Reshape(signal, [1, rows])
        weights = matrix.astype(signal.dtype).reshape((1,) * max(rank - 2, 0) + matrix.shape)
        # 0 copies the size of an axis in front, known or not.
        pairs = build.Reshape(build.MatMul(signal, weights), [*[0] * (rank - 1), bins, 2])
        if axis == rank - 1:
            return pairs
        return build.Transpose(pairs, perm=[*(order.index(k) for k in range(rank)), rank])

    result = widened(build, x, work)
    if x.elem_type == TensorProto.FLOAT16:
        return build.Cast(result, to=TensorProto.FLOAT)
    return result


def _why_alone(node: NodeView) -> str:
    output = node.output(0)
    users = output.consumers if output is not None else ()
    others = sorted({operator_of(user)[0] for user in users} - {"view_as_real"})
    if others:
        return f"its complex numbers are used by {', '.join(others)}"
    if output is not None and output.is_graph_output:
        return "its complex numbers are an output"
    return "it is replaced together with the view_as_real that uses it"
