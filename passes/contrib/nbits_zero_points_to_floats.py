"""Give MatMulNBits zero points in floats where its columns have an order of their own.

What it does: Unpacks the zero points of com.microsoft::MatMulNBits, two in a byte, into numbers of
    the type of the other operand; the weights keep their 4 bits.
Why engines need it: Next to g_idx onnxruntime reads zero points in bytes, and continues with 8 for
    each; it computes with those in floats. GPTQ with act-order writes both.
Before: y = com.microsoft.MatMulNBits <bits = 4, ...> (x, b, scales, uint8 zero_points, g_idx)
After: y = com.microsoft.MatMulNBits <bits = 4, ...> (x, b, scales, float zero_points, g_idx)
When it refuses: Zero points are computed at run time, are floats already or of a number that does
    not fit; there is no g_idx; the weights have other than 4 bits; the operand is no float of 16 or
    32 bits.
Accuracy: Exact: the same numbers, which both types hold.
References: microsoft/onnxruntime contrib_ops/cpu/quantization/matmul_nbits_impl.cc,
    Dequantize4BitsKernelReOrder; asked of onnxruntime 1.18.1 to 1.32.0
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite
from graphfix.authoring.packed_blocks import unpacked

from ._nbits import infer
from ._typing import need_float

_ZEROS, _ORDER, _BITS = 3, 4, 4


@rewrite(
    "com.microsoft::MatMulNBits",
    removes="form:com.microsoft::MatMulNBits.zero-points-and-order",
    emits="com.microsoft::MatMulNBits",
    infer=infer,
    as_written=True,
)
def nbits_zero_points_to_floats(node: NodeView, build: Builder) -> Value:
    """Unpack the zero points, see the module."""
    x, zeros = node.need(0), node.input(_ZEROS)
    need_float(x)
    if zeros is None or node.input(_ORDER) is None:
        raise Refuse("zero points and g_idx must be given; one is not")
    if zeros.elem_type != TensorProto.UINT8 or int(node.attr("bits", 4)) != _BITS:
        raise Refuse(f"{zeros.name} must be uint8 with numbers of 4 bits; it is not")
    rows, columns, block = (int(node.attr(name)) for name in ("N", "K", "block_size"))
    blocks = -(-columns // max(block, 1))
    data = build.need_const(zeros, "the zero points")
    if data.size != rows * -(-blocks // 2):
        raise Refuse(f"{zeros.name} must have {-(-blocks // 2)} bytes a row; it does not")
    numbers = unpacked(data.reshape(rows, -1), _BITS)[:, :blocks].reshape(-1)
    inputs = list(node.inputs)
    inputs[_ZEROS] = build.constant(np.ascontiguousarray(numbers.astype(x.dtype)))
    kept = {name: node.attr(name) for name in node.attributes}
    return build.node("com.microsoft::MatMulNBits", *inputs, **kept)
