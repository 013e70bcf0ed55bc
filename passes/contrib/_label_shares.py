"""How much each label counts in a loss, as onnxruntime's kernels have it."""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Value

from ._means import wide

EMITS = "Cast Equal Gather Mul Not ReduceSum Where"
IGNORED = -1  # where nothing says otherwise


def ignored_label(node: NodeView, build: Builder, place: int) -> int:
    """Return the label that does not count.

    Args:
        node: The node.
        build: The builder.
        place: The input that may hold it; the attribute does otherwise.

    Raises:
        Refuse: The input is not a constant.
    """
    label = node.input(place)
    if label is None:
        return int(node.attr("ignore_index", IGNORED))
    return int(build.need_const(label, "the label to ignore").reshape(-1)[0])


def shares(build: Builder, labels: Value, ignored: int, weights: Value | None) -> Value:
    """Return for each label 1 or its weight, and 0 where it is to be ignored, as float32."""
    kind = labels.dtype
    is_out = build.Equal(labels, np.array(ignored, kind))
    part = build.Cast(build.Not(is_out), to=TensorProto.FLOAT)
    if weights is None:
        return part
    index = build.Where(is_out, np.array(0, kind), labels)
    return build.Mul(part, build.Gather(wide(build, weights), index, axis=0))


def divisor(build: Builder, part: Value, rank: int) -> Value:
    """Return the sum of the shares; 1 where it is 0, since nothing is divided there."""
    total = build.ReduceSum(part, axes=list(range(rank)), keepdims=0)
    none = build.Equal(total, np.array(0, np.float32))
    return build.Where(none, np.array(1, np.float32), total)
