"""Fuse a product of two matrices and a sum into Gemm.

What it does: Replaces MatMul of matrices, and the constant row or number that is added to it, by
    Gemm. It runs only when it is named.
Why engines need it: Engines find a fully connected layer in Gemm, with its bias, and not in the two
    nodes.
Before: y = Add (MatMul (x, w), b)
After: y = Gemm (x, w, b)
When it refuses: Operands that are not known to be matrices; integers. What is added has to be
    constant and must not give the product dimensions or rows; else it is no match.
Accuracy: Exact up to rounding; approximate for float16 and bfloat16, which are rounded less often.
References: https://onnx.ai/onnx/operators/onnx__Gemm.html
"""

import numpy as np

from graphfix.authoring import NAMED, Array, Builder, Find, Match, Refuse, Sought, Value, rewrite

from ._fused import fused


def _is_row(array: Array) -> bool:
    return array.ndim <= 2 and array.size == (array.shape[-1] if array.ndim else 1)


@rewrite.pattern
def _affine(find: Find, x: Sought, weights: Sought, bias: Sought) -> Sought:
    return x @ weights + find.constant(bias, _is_row, "a row or a number")


@rewrite(_affine, emits="Gemm", stage=NAMED)
def gemm_fusion(match: Match, build: Builder) -> Value:
    """Emit one node, see the module."""
    x, weights, bias = match["x"], match["weights"], match.array("bias")
    if x.rank != 2 or weights.rank != 2:
        raise Refuse(
            f"both operands of the product must have rank 2; they have {x.rank} and {weights.rank}"
        )
    if bias.dtype.kind in "iub":
        raise Refuse(f"the operands must be floats, which engines support; they are {bias.dtype}")
    columns = weights.dim(1)
    if bias.size not in (1, columns):
        raise Refuse(f"what is added must be one value for each column; it has {bias.size}")
    return fused(build, "Gemm", 7, x, weights, np.atleast_1d(bias.squeeze()))
