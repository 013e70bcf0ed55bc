"""Give NonMaxSuppression a count of boxes that int32 holds.

What it does: Writes a max_output_boxes_per_class that is larger than int32 holds as the number of
    boxes where that is fixed, and as the largest int32 where it is open.
Why engines need it: PyTorch's exporter writes 2^63 - 1 for torchvision.ops.nms, which has no limit.
    TensorRT 8 has no int64: "One or more weights outside the range of INT32 was clamped".
Before: y = NonMaxSuppression (boxes, scores, 9223372036854775807, 0.5)
After: y = NonMaxSuppression (boxes, scores, 100, 0.5)
When it refuses: The count is computed at run time; int32 holds it.
Accuracy: Exact: no more boxes than there are can be selected.
References: onnxruntime/core/providers/cpu/object_detection/non_max_suppression.cc of
    microsoft/onnxruntime; torch/onnx/symbolic_opset11.py of pytorch/pytorch (_get_operator_nms)
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_BOXES, _SCORES, _LIMIT = range(3)
_INPUTS = 5
_LARGEST = 2**31 - 1


@rewrite("NonMaxSuppression", removes="dtype:int64-beyond-int32", emits="NonMaxSuppression")
def nms_count_within_int32(node: NodeView, build: Builder) -> Value:
    """Write the count, see the module."""
    limit = node.input(_LIMIT)
    counts = None if limit is None else limit.array()
    if counts is None or counts.size != 1:
        raise Refuse("max_output_boxes_per_class must be a constant; it is not")
    most = int(counts.reshape(-1)[0])
    if most <= _LARGEST:
        raise Refuse(f"it must be beyond int32; it is {most}")
    boxes, scores = node.need(_BOXES), node.need(_SCORES)
    sizes = [size for size in (boxes.dim(1), scores.dim(2)) if size is not None]
    given = [node.input(place) for place in range(_INPUTS)]
    given[_LIMIT] = build.constant(np.array([min([_LARGEST, *sizes])], np.int64))
    return build.NonMaxSuppression(*given, center_point_box=int(node.attr("center_point_box", 0)))
