"""Replace Normalizer by a division by what each row comes to.

What it does: Divides each row by its greatest number, by the sum of what its values are in size,
    or takes the root of its squares as parts of their sum, with the sign that the number had. A row
    that comes to 0 stays as it is.
Why engines need it: TensorRT has no operator of ai.onnx.ml.
Before: y = ai.onnx.ml.Normalizer <norm = "L1"> (x)
After:
    sum = ReduceSum <axes = [-1]> (Abs (x))
    y = Div (x, Add (sum, Cast (Not (Cast <to = bool> (sum)))))
When it refuses: The rows are no vector or matrix of numbers, or the norm is none of ONNX.
Accuracy: Exact up to the order of summation. Numbers are squared as float32, where onnxruntime
    squares those of float64 and integers before it rounds.
References: https://onnx.ai/onnx/operators/onnx_aionnxml_Normalizer.html;
    onnxruntime/core/providers/cpu/ml/normalizer.cc
"""

from onnx import TensorProto

from graphfix.authoring import (
    Builder,
    NodeView,
    Refuse,
    Value,
    need_elem_type,
    rewrite,
)


@rewrite(
    "ai.onnx.ml::Normalizer",
    emits="Abs Add Cast Div Less Mul Neg Not ReduceMax ReduceSum Sqrt Where",
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
            return build.Div(rows, _or_one(build, build.ReduceMax(rows, **last)))
        case "L1":
            return build.Div(rows, _or_one(build, build.ReduceSum(build.Abs(rows), **last)))
        case "L2":
            squares = build.Mul(rows, rows)
            whole = build.ReduceSum(squares, **last)
            size = build.Sqrt(build.Div(squares, whole))
            parts = build.Where(build.Less(rows, 0.0), build.Neg(size), size)
            return build.Where(build.Cast(whole, to=TensorProto.BOOL), parts, rows)
        case _:
            raise Refuse(f"the norm must be MAX, L1 or L2; it is {norm}")


def _or_one(build: Builder, whole: Value) -> Value:
    """Return 1 in place of 0, without Where, which opset 8 lacks."""
    none = build.Not(build.Cast(whole, to=TensorProto.BOOL))
    return build.Add(whole, build.Cast(none, to=TensorProto.FLOAT))
