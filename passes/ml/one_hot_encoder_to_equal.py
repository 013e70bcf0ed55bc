"""Replace OneHotEncoder of numbers by a comparison with the categories.

What it does: Cuts the numbers to integers and compares them with each category along a new last
    axis.
Why engines need it: TensorRT has no operator of ai.onnx.ml.
Before: y = ai.onnx.ml.OneHotEncoder <cats_int64s = [1, 2, 5]> (x)
After: y = Cast (Equal (Unsqueeze (Cast (x), -1), {1, 2, 5}))
When it refuses: The categories are strings, a category is named twice, or the rank of the data is
    unknown.
Accuracy: Exact. With ``zeros = 0`` onnxruntime stops at a number that is no category; here it gives
    a row of zeros.
References: https://onnx.ai/onnx/operators/onnx_aionnxml_OneHotEncoder.html;
    onnxruntime/core/providers/cpu/ml/onehotencoder.cc
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite("ai.onnx.ml::OneHotEncoder", emits="Cast Equal Unsqueeze")
def one_hot_encoder_to_equal(node: NodeView, build: Builder) -> Value:
    """Compare with the categories, see the module."""
    x = node.need(0)
    categories = np.array(node.attr("cats_int64s", []), np.int64)
    if not categories.size:
        raise Refuse("the categories must be integers (cats_int64s); they are strings or none")
    if len(set(categories.tolist())) < categories.size:
        raise Refuse("each category must be named once; one is named twice")
    if x.rank is None or x.dtype is None or x.dtype.kind not in "fi":
        raise Refuse(f"the rank of {x.name} must be known and its elements numbers")
    whole = x if x.elem_type == TensorProto.INT64 else build.Cast(x, to=TensorProto.INT64)
    hits = build.Equal(build.Unsqueeze(whole, axes=[x.rank]), categories)
    return build.Cast(hits, to=TensorProto.FLOAT)
