"""Replace Normalizer by a division by what each row comes to.

What it does:
    Divides each row by its greatest number, by the sum of what its numbers are in size, or takes
    the root of its squares as parts of their sum, with the sign that the number had. A row that
    comes to 0 stays as it is.

Why engines need it:
    TensorRT has no operator of ai.onnx.ml.

Before:
    y = ai.onnx.ml.Normalizer <norm = "L1"> (x)

After:
    sum = ReduceSum <axes = [-1]> (Abs (x))
    y = Where (Cast <to = bool> (sum), Div (x, sum), x)

When it refuses:
    The rows are no vector or matrix of numbers, or the norm is none of ONNX.

Accuracy:
    Exact up to the order of summation. Numbers are squared as float32, where onnxruntime squares
    those of float64 and integers before it rounds.

References:
    https://onnx.ai/onnx/operators/onnx_aionnxml_Normalizer.html;
    onnxruntime/core/providers/cpu/ml/normalizer.cc
"""

from __future__ import annotations

from collections.abc import Sequence

from onnx import TensorProto

from graphfix.authoring import (
    Builder,
    InferredType,
    NodeView,
    Refuse,
    Value,
    need_elem_type,
    rewrite,
)


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """Float32 of the shape of the rows."""
    return (InferredType(TensorProto.FLOAT, node.need(0).shape),)


@rewrite(
    "ai.onnx.ml::Normalizer",
    removes="op:ai.onnx.ml::Normalizer",
    emits="Abs Cast Div Less Mul Neg ReduceMax ReduceSum Sqrt Where",
    infer=infer,
)
def normalizer_to_div(node: NodeView, build: Builder) -> Value:
    """Divide by what rows come to, see the module."""
    x, norm = node.need(0), node.attr("norm", "MAX")
    need_elem_type(x)
    if x.rank not in (1, 2):
        raise Refuse(f"the rank of {x.name} must be 1 or 2; it is {x.rank}")
    rows = x if x.elem_type == TensorProto.FLOAT else build.Cast(x, to=TensorProto.FLOAT)
    last = {"axes": [x.rank - 1], "keepdims": 1}
    match norm:
        case "MAX":
            whole = build.ReduceMax(rows, **last)
            parts = build.Div(rows, whole)
        case "L1":
            whole = build.ReduceSum(build.Abs(rows), **last)
            parts = build.Div(rows, whole)
        case "L2":
            squares = build.Mul(rows, rows)
            whole = build.ReduceSum(squares, **last)
            size = build.Sqrt(build.Div(squares, whole))
            parts = build.Where(build.Less(rows, 0.0), build.Neg(size), size)
        case _:
            raise Refuse(f"the norm must be MAX, L1 or L2; it is {norm}")
    return build.Where(build.Cast(whole, to=TensorProto.BOOL), parts, rows)
