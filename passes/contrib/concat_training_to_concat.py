"""Write ConcatTraining as Concat, and its lengths as sizes.

What it does: Takes Concat, and gives the size of each part along the axis: a constant where they
    are known.
Why engines need it: onnxruntime's training writes this operator into the models that it makes, so
    that the gradient knows where to split; only a build of onnxruntime for training has a kernel
    for it.
Before: y, lengths = com.microsoft.ConcatTraining <axis = 0> (a, b)
After:
    y = Concat <axis = 0> (a, b)
    lengths = [2, 3]
When it refuses: The lengths are used, and the rank of a part is unknown.
Accuracy: Exact: numbers are moved.
References: microsoft/onnxruntime orttraining/orttraining/training_ops/cpu/tensor/concat.cc
"""

from typing import Any

import numpy as np

from graphfix.authoring import (
    Array,
    Builder,
    NodeView,
    Refuse,
    Value,
    rewrite,
    size_of,
)

_NAME = "com.microsoft::ConcatTraining"


def numbers(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Compute it with numpy."""
    parts = [x for x in inputs if x is not None]
    axis = int(attributes.get("axis", 0))
    lengths = np.array([x.shape[axis] for x in parts], np.int64)
    return np.concatenate(parts, axis), lengths


@rewrite(_NAME, emits="Concat Gather Identity Reshape Shape", evaluate=numbers)
def concat_training_to_concat(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Join the parts, see the module."""
    parts = [node.need(place) for place in range(len(node.inputs))]
    axis = int(node.attr("axis", 0))
    joined = build.Concat(*parts, axis=axis)
    if len(node.outputs) < 2 or node.output(1) is None:
        return (joined, None)[: len(node.outputs)]
    for x in parts:
        if not x.rank:
            raise Refuse(f"the rank of {x.name} must be known, as its length is used")
    sizes = [size_of(x, axis, build) for x in parts]
    if all(isinstance(size, int) for size in sizes):
        return joined, build.Identity(build.constant(np.array(sizes, np.int64)))
    each = [
        build.constant(np.array([size], np.int64))
        if isinstance(size, int)
        else build.Reshape(size, np.array([1]))
        for size in sizes
    ]
    return joined, each[0] if len(each) == 1 else build.Concat(*each, axis=0)
