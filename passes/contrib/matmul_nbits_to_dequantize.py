"""Write products with weights of 4 bits with DequantizeLinear, which keeps the 4 bits.

What it does: Writes the weights of com.microsoft::MatMulNBits as a tensor of int4 with a scale for
    each block, DequantizeLinear of it, MatMul, and Add where there is a bias. Where zero points
    are not 8 or scales not positive, the sums of the blocks of the other operand are multiplied
    by what the weights are off.
Why engines need it: TensorRT has weights of 4 bits from 10.0 on, as int4 with positive scales and
    without zero points, and no MatMulNBits. In floats the file is eight times as big.
Before: y = com.microsoft.MatMulNBits <K = 4096, N = 4096, bits = 4, block_size = 32> (x, w, scales)
After: y = MatMul (x, Transpose (DequantizeLinear <axis = 1, block_size = 32> (int4 w, scales)))
When it refuses: The weights do not have 4 bits, are computed at run time, packed beforehand for
    one processor or of sizes that do not fit; columns have an order of their own; the opset is
    below 21, or the engine does not take what is written.
Accuracy: Exact up to the order of summation, as `matmul-nbits-to-matmul`; products of float16 are
    those of MatMul.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.MatMulNBits;
    https://onnx.ai/onnx/operators/onnx__DequantizeLinear.html; onnx/onnx-tensorrt
    onnxOpImporters.cpp, QuantDequantLinearHelper (10.1: one blocked axis, scales of the rank of
    the weights); built by TensorRT for RTX 1.7.1 for blocks of 16 to 256
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._int4 import EMITS, Int4, int4_of
from ._means import like
from ._nbits import infer
from ._typing import need_float


@rewrite(
    "com.microsoft::MatMulNBits",
    emits=(EMITS, "Add Cast MatMul ReduceSum Reshape Sub"),
    infer=infer,
    since=21,
    as_written=True,
)
def matmul_nbits_to_dequantize(node: NodeView, build: Builder) -> Value:
    """Keep the bytes and multiply, see the module."""
    node.waive(("accuracy_level",))  # how kernels may round the other operand; no formula does
    if int(node.attr("weight_prepacked", 0)):
        raise Refuse("the weights must be as the schema says; they are packed for one processor")
    if node.input(4) is not None:
        raise Refuse("the columns must be in order; they have an order of their own")
    x, bias = node.need(0), node.input(5)
    need_float(x)
    columns = int(node.attr("K"))
    block = max(int(node.attr("block_size")), 1)
    sizes = (int(node.attr("N")), -(-columns // block), block)
    found = int4_of(node, build, (1, 2, 3), sizes)
    result = build.MatMul(x, build.Transpose(_as_wide(build, x, found, columns), perm=[1, 0]))
    if found.shift is not None:
        shift = build.Transpose(like(build, x, found.shift), perm=[1, 0])
        result = build.Sub(result, build.MatMul(_block_sums(build, x, found, columns), shift))
    return result if bias is None else build.Add(result, like(build, x, bias))


def _as_wide(build: Builder, x: Value, found: Int4, columns: int) -> Value:
    """Return the weights without the columns that fill up the last block."""
    weights = found.weights
    if found.columns != columns:
        weights = build.Slice(weights, starts=[0], ends=[columns], axes=[1])
    return like(build, x, weights)


def _block_sums(build: Builder, x: Value, found: Int4, columns: int) -> Value:
    """Return the sum of each block of the last axis of x."""
    if found.columns != columns:
        blocks = np.arange(found.columns // found.block)
        here = np.arange(columns)[:, None] // found.block == blocks
        return build.MatMul(x, here.astype(x.dtype))
    rank = x.rank
    if not rank:
        raise Refuse(f"the rank of {x.name} must be known and at least 1; it is {rank}")
    sizes = [0] * (rank - 1) + [found.columns // found.block, found.block]
    apart = build.Reshape(x, np.array(sizes))
    return build.ReduceSum(apart, axes=[rank], keepdims=0)
