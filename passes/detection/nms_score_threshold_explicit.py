"""Give NonMaxSuppression the score threshold that leaves no box out.

What it does: Adds the lowest float32 as score_threshold where there is none.
Why engines need it: Without score_threshold every box is looked at (onnxruntime); TensorRT from 8.5
    on takes zero for it then, and leaves out boxes whose score is zero or negative, such as that of
    a logit.
Before: y = NonMaxSuppression (boxes, scores, 5, 0.5)
After: y = NonMaxSuppression (boxes, scores, 5, 0.5, -3.4028235e38)
When it refuses: There is a threshold.
Accuracy: Exact for scores above the lowest float32.
References: onnxruntime/core/providers/cpu/object_detection/non_max_suppression.cc of
    microsoft/onnxruntime; NvInfer.h 8.6.1, INMSLayer
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_THRESHOLD = 4


@rewrite(
    "NonMaxSuppression", removes="attr:NonMaxSuppression.score_threshold", emits="NonMaxSuppression"
)
def nms_score_threshold_explicit(node: NodeView, build: Builder) -> Value:
    """Write the threshold, see the module."""
    if node.input(_THRESHOLD) is not None:
        raise Refuse("it must have no score_threshold; it has one")
    given = [node.input(place) for place in range(_THRESHOLD)]
    lowest = np.array([np.finfo(np.float32).min], np.float32)
    return build.NonMaxSuppression(
        *given, lowest, center_point_box=int(node.attr("center_point_box", 0))
    )
