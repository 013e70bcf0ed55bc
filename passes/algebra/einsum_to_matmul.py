"""Compute Einsum by MatMul, Transpose, Mul and ReduceSum.

What it does: Takes two operands at a time, in their order. Letters that only one of them has and
    no one asks for are summed first; letters of both that are summed become the common axis of a
    MatMul, joined by Reshape where they are several, and letters that stay are its batch, rows and
    columns. Where no letter is summed, or one broadcasts, the operands are multiplied element by
    element. A letter that is repeated within a term is a diagonal: each (n + 1)-th element of its
    matrix, laid out as a row.
Why engines need it: TensorRT has an importer for Einsum from 8.2 on, which takes lower-case
    letters, and up to 10.11 no ellipsis, no diagonal, no broadcasting and no integers.
Before: y = Einsum <equation = "bqhd,hdm->bqm"> (x, w)     x: [B, Q, 8, 64], w: [8, 64, 512]
After: y = MatMul (Reshape (x, {0, 0, 512}), Reshape (w, {512, 512}))
When it refuses: A rank or a type is unknown, the type is neither a float of 16, 32 or 64 bits nor
    an integer of 32 or 64, or the equation does not fit the operands.
Accuracy: Exact for integers, which wrap around; approximate where they are summed without being
    multiplied, as ReduceSum of onnxruntime goes through float64 (and its own Einsum does the same
    there). For floating point numbers exact up to the order of summation.
References: https://onnx.ai/onnx/operators/onnx__Einsum.html; onnx/onnx-tensorrt release/8.6-GA,
    builtin_op_importers.cpp:1382-1398 and docs/operators.md
"""

from graphfix.authoring import Builder, NodeView, Value, rewrite

from ._contracting import contract
from ._equation import read


@rewrite(
    "Einsum",
    removes="op:Einsum attr:Einsum.* dtype:Einsum.* shape:Einsum.*",
    emits=(
        "Add Concat Equal Expand Gather MatMul Mul ReduceSum Reshape Shape Slice Squeeze Transpose "
        "Unsqueeze Where"
    ),
    since=12,
)
def einsum_to_matmul(node: NodeView, build: Builder) -> Value:
    """Compute products of matrices, see the module."""
    terms, wanted = read(node)
    return contract(terms, wanted, build)
