"""Replace Scaler by Sub and Mul.

What it does: Takes the offset off and multiplies by the scale: in float32, in float64 where the
    input has it.
Why engines need it: TensorRT has no operator of ai.onnx.ml.
Before: y = ai.onnx.ml.Scaler <offset = [1.0], scale = [0.5]> (x)
After: y = Mul (Sub (Cast (x), 1), 0.5)
When it refuses: Offset or scale is missing, they have different lengths, or the dtype of the input
    is unknown.
Accuracy: Exact: the same two operations in the type that onnxruntime computes them in, which is
    float64 for an input of it (the result is cut to float32 afterwards) and float32 otherwise.
References: https://onnx.ai/onnx/operators/onnx_aionnxml_Scaler.html;
    onnxruntime/core/providers/cpu/ml/scaler.cc
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    Builder,
    NodeView,
    Refuse,
    Value,
    need_elem_type,
    rewrite,
)


@rewrite("ai.onnx.ml::Scaler", emits="Cast Mul Sub")
def scaler_to_arithmetic(node: NodeView, build: Builder) -> Value:
    """Scale, see the module."""
    x = node.need(0)
    offset = np.array(node.attr("offset", []), np.float32)
    scale = np.array(node.attr("scale", []), np.float32)
    if not offset.size or offset.size != scale.size:
        raise Refuse(
            f"there must be as many offsets as scales; there are {offset.size} and {scale.size}"
        )
    need_elem_type(x)
    if x.elem_type == TensorProto.DOUBLE:
        wide = build.Mul(build.Sub(x, offset.astype(np.float64)), scale.astype(np.float64))
        return build.Cast(wide, to=TensorProto.FLOAT)
    data = x if x.elem_type == TensorProto.FLOAT else build.Cast(x, to=TensorProto.FLOAT)
    return build.Mul(build.Sub(data, offset), scale)
