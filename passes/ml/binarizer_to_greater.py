"""Replace Binarizer by a comparison.

What it does: Compares with the threshold: 1 above it, 0 elsewhere. Onnxruntime stops at NaN, this
    gives 0.
Why engines need it: TensorRT has no operator of ai.onnx.ml.
Before: y = ai.onnx.ml.Binarizer <threshold = 0.5> (x)
After: y = Cast (Greater (x, 0.5))
When it refuses: The dtype of the numbers is not known.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx_aionnxml_Binarizer.html;
    onnxruntime/core/providers/cpu/ml/binarizer.cc
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite("ai.onnx.ml::Binarizer", emits="Cast Greater")
def binarizer_to_greater(node: NodeView, build: Builder) -> Value:
    """Compare, see the module."""
    x = node.need(0)
    if x.elem_type not in (TensorProto.FLOAT, TensorProto.DOUBLE):
        raise Refuse(f"{x.name} must be float32 or float64; it is {x.type_name}")
    assert x.dtype is not None
    threshold = np.array(node.attr("threshold", 0.0), np.float32).astype(x.dtype)
    return build.Cast(build.Greater(x, threshold), to=x.elem_type)
