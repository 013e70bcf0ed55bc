"""NonMaxSuppression: constants, what TensorRT makes of its rows, and what it leaves out."""

from __future__ import annotations

from graphfix.engines.profile import Target
from graphfix.engines.rule import NOTE, Answer, rule
from graphfix.ir.views import NodeView

_MAX_CANDIDATES = 2000


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
