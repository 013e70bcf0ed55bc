"""Write Gemm as MatMul, with what it scales and adds in nodes of their own.

What it does: Transposes the operands as transA and transB say, multiplies them with MatMul,
    multiplies product and bias by alpha and beta where these are not 1, and adds the bias.
Why engines need it: tract computes the bias of a Gemm in float32 whatever it is, and refuses the
    sum: "expected 1,4,F16 got 1,4,F32", "tensor is F32, accessed as F64". Its MatMul takes all of
    them.
Before: y = Gemm <alpha = 0.5, transB = 1> (a, b, c)
After: y = Add (Mul (MatMul (a, Transpose <perm = [1, 0]> (b)), 0.5), c)
When it refuses: Integers, whose alpha and beta are fractions; an element type that is not known; a
    vector, which MatMul would give without its row.
Accuracy: Exact up to rounding.
References: https://onnx.ai/onnx/operators/onnx__Gemm.html
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite(
    "Gemm",
    removes="op:Gemm dtype:Gemm.* form:Gemm.* rank:Gemm.* const:Gemm.*",
    emits="Add MatMul Mul Transpose",
    since=7,  # what is added had to say that it is broadcast before
)
def gemm_to_matmul(node: NodeView, build: Builder) -> Value:
    """Multiply, scale and add, see the module."""
    a, b, c = node.need(0), node.need(1), node.input(2)
    if a.dtype is None or a.dtype.kind != "f":
        raise Refuse(f"{a.name} must be floating point; it is {a.type_name}")
    for matrix in (a, b):
        if matrix.rank == 1:  # onnxruntime takes it for a matrix of one row
            raise Refuse(f"{matrix.name} must have two dimensions; it is a vector")
    left = build.Transpose(a, perm=[1, 0]) if node.attr("transA", 0) else a
    right = build.Transpose(b, perm=[1, 0]) if node.attr("transB", 0) else b
    product = _scaled(build, build.MatMul(left, right), node.attr("alpha", 1.0))
    if c is None:
        return product
    return build.Add(product, _scaled(build, c, node.attr("beta", 1.0)))


def _scaled(build: Builder, value: Value, factor: object) -> Value:
    number = np.float32(factor)  # type: ignore[arg-type]
    return value if number == 1 else build.Mul(value, float(number))
