"""NonMaxSuppression: constants, what TensorRT makes of its rows, and what it leaves out."""

from __future__ import annotations

from graphfix.engines.profile import Target
from graphfix.engines.rule import NOTE, REJECT, WRONG, Answer, Yes, rule
from graphfix.engines.rule_makers import refuses_rank
from graphfix.engines.tensorrt.rules.parsed import is_weights
from graphfix.ir.views import NodeView

_MAX_CANDIDATES = 2000
_SCORE_THRESHOLD = 4


@rule(
    "NonMaxSuppression",
    feature="const:NonMaxSuppression.max_output_boxes_per_class",
    versions="trt8.0..trt8.4",
    severity=REJECT,
    text="Assertion failed: inputs.at(2).is_weights() && "
    '"The max_output_boxes_per_class input is required to be an initializer."',
    source="builtin_op_importers.cpp: importNonMaxSuppression (8.0)",
)
def nms_constants(node: NodeView, target: Target) -> Answer:
    """TensorRT requires constant limits and thresholds of NonMaxSuppression."""
    names = {2: "max_output_boxes_per_class", 3: "iou_threshold", 4: "score_threshold"}
    for index, name in names.items():
        value = node.input(index)
        if value is not None and not is_weights(value):
            return Yes(feature=f"const:NonMaxSuppression.{name}")
    return None


@rule(
    "NonMaxSuppression",
    feature="rank:NonMaxSuppression.filled",
    versions="trt8.0..trt8.4",
    severity=WRONG,
    source="builtin_op_importers.cpp: importNonMaxSuppression (8.0, 8.4); NVIDIA/TensorRT 8.0.1 "
    "plugin/efficientNMSPlugin: PadONNXResult, WriteONNXResult",
)
def nms_rows_filled(node: NodeView, target: Target) -> Answer:
    """TensorRT pads NonMaxSuppression to images times max_output_boxes_per_class rows.

    All classes of an image share that limit. Extra rows repeat the last one, or are -1 where no box
    is selected, and no output holds the count.
    """
    return True


@rule(
    "NonMaxSuppression",
    feature="attr:NonMaxSuppression.score_threshold",
    versions="trt8.5..",
    severity=WRONG,
    source="NvInfer.h 8.6.1:6562 (INMSLayer): a default of 0 that a score must exceed; "
    "non_max_suppression.cc of onnxruntime: no threshold",
)
def nms_score_threshold(node: NodeView, target: Target) -> Answer:
    """TensorRT drops boxes with a score of 0 or less if score_threshold is missing."""
    return node.input(_SCORE_THRESHOLD) is None


@rule(
    "NonMaxSuppression",
    feature="rank:NonMaxSuppression.candidates",
    versions="trt8.5..",
    severity=NOTE,
    source="NvInfer.h 8.6.1:6542-6577 (INMSLayer)",
)
def nms_candidates(node: NodeView, target: Target) -> Answer:
    """TensorRT considers the best 5000 boxes of an image over all classes.

    On SM 5.3 and 6.2 it is 2000. Rows are sorted by score over all classes; the order of equal
    scores is undefined.
    """
    count, classes = node.need(1).dim(2), node.need(1).dim(1)
    return count is None or classes is None or classes > 1 or count > _MAX_CANDIDATES


nms_boxes = refuses_rank(
    "NonMaxSuppression",
    0,
    range(3, 4),
    versions="trt8.0..",
    text='Assertion failed: ... && "The boxes tensor must be 3D"',
    source="builtin_op_importers.cpp:3130 (8.6.1)",
)
nms_scores = refuses_rank(
    "NonMaxSuppression",
    1,
    range(3, 4),
    versions="trt8.0..",
    text='Assertion failed: ... && "The scores tensor must be 3D"',
    source="builtin_op_importers.cpp:3135 (8.6.1)",
)
