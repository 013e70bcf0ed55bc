"""Write products with packed weights out.

What it does: Unpacks the weights of com.microsoft::MatMulNBits (2, 4 or 8 bits, by blocks, with or
    without zero points or an order of the columns) and of MatMulBnb4 (FP4 and NF4) into a float
    matrix, and writes MatMul, and Add where there is a bias.
Why engines need it: They are how weight-only quantization for onnxruntime writes a matrix; other
    engines do not know them.
Before: y = com.microsoft.MatMulNBits <K = 4096, N = 4096, bits = 4, block_size = 32> (x, w, scales)
After: y = MatMul (x, float weights [K, N])
When it refuses: Weights, scales or zero points are computed at run time, packed beforehand for one
    processor, of another width, or of sizes that do not fit; the dtype is not known.
Accuracy: Exact up to the order of summation; the file grows by what packing saved (8 times for 4
    bits and float32). float16 is multiplied in float32. Where accuracy_level is 4,
    onnxruntime rounds the other operand to 8 bits; the formula does not, and is what is compared.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.MatMulNBits,
    com.microsoft.MatMulBnb4; onnxruntime/contrib_ops/cpu/quantization/matmul_nbits.cc,
    dequantize_blockwise_bnb4.h
"""

import numpy as np

from graphfix.authoring import (
    Array,
    Builder,
    NodeView,
    Refuse,
    Value,
    rewrite,
)

from ._blocks import read_weights
from ._means import like, wide
from ._nbits import infer
from ._typing import need_float

_NBITS, _BNB4 = "com.microsoft::MatMulNBits", "com.microsoft::MatMulBnb4"
# Values of FP4 and NF4 by their number: dequantize_blockwise_bnb4.h.
_FP4 = [0.0, 0.0625, 8.0, 12.0, 4.0, 6.0, 2.0, 3.0]
_TABLES: tuple[Array, Array] = (
    (np.array([*_FP4, *(-x for x in _FP4)]) / 12).astype(np.float32),
    np.array(
        [
            *(-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453),
            *(-0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0),
            *(0.07958029955625534, 0.16093020141124725, 0.24611230194568634),
            *(0.33791524171829224, 0.44070982933044434, 0.5626170039176941),
            *(0.7229568362236023, 1.0),
        ],
        np.float32,
    ),
)


@rewrite(_NBITS, emits="Add Cast MatMul", infer=infer, last_resort=True)
def matmul_nbits_to_matmul(node: NodeView, build: Builder) -> Value:
    """Unpack and multiply, see the module."""
    if int(node.attr("weight_prepacked", 0)):
        raise Refuse("the weights must be as the schema says; they are packed for one processor")
    sizes = (int(node.attr("N")), int(node.attr("K")), int(node.attr("block_size")))
    weights = read_weights(node, build, (1, 2, 3, 4), sizes, int(node.attr("bits", 4)))
    node.waive(("accuracy_level",))  # how kernels may round the other operand; no formula does
    return _product(node, build, weights, node.input(5))


@rewrite(_BNB4, emits="Cast MatMul", infer=infer)
def matmul_bnb4_to_matmul(node: NodeView, build: Builder) -> Value:
    """Write a product with weights of FP4 or NF4 out."""
    rows, columns, block = (int(node.attr(name)) for name in ("N", "K", "block_size"))
    kind = int(node.attr("quant_type"))
    if kind not in (0, 1) or not int(node.attr("transB", 1)):
        raise Refuse("the weights must be [N, K] of FP4 or NF4, as onnxruntime wants it")
    data = build.need_const(node.need(1), "the weights").reshape(-1)
    largest = build.need_const(node.need(2), "the largest numbers").astype(np.float32)
    if data.dtype != np.uint8 or 2 * data.size < rows * columns:
        raise Refuse("the weights must be bytes, two numbers in each; they are not")
    numbers = np.stack([data >> 4, data & 15], axis=1).reshape(-1)[: rows * columns]
    factors = np.repeat(largest, block)[: rows * columns]
    weights = (_TABLES[kind][numbers] * factors).reshape(rows, columns)
    return _product(node, build, weights, None)


def _product(node: NodeView, build: Builder, weights: Array, bias: Value | None) -> Value:
    x = node.need(0)
    need_float(x)
    result = build.MatMul(wide(build, x), np.ascontiguousarray(weights.T))
    if bias is not None:
        result = build.Add(result, wide(build, bias))
    return like(build, x, result)
