"""Take BiasSoftmax apart.

What it does: Adds the bias and writes Softmax. It is over all axes from `axis` on, as Softmax was
    before opset 13.
Why engines need it: It is an operator of onnxruntime's optimiser; other engines do not know it.
Before: y = com.microsoft.BiasSoftmax <axis = 3, is_inner_broadcast = 1> (scores, mask)
After: y = Softmax <axis = 3> (Add (scores, mask))
When it refuses: The rank of the scores is unknown, or that of a bias that is repeated along inner
    axes is not theirs.
Accuracy: Exact up to rounding.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.BiasSoftmax;
    onnxruntime/core/optimizer/bias_softmax_fusion.cc
"""

from typing import Any

import numpy as np

from graphfix.authoring import (
    Array,
    Builder,
    NodeView,
    Refuse,
    Value,
    need_rank,
    rewrite,
)

from ._typing import need_float

_NAME = "com.microsoft::BiasSoftmax"


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Compute in float64."""
    data, bias = inputs[:2]
    assert data is not None  # the schema wants both
    assert bias is not None
    if attributes.get("is_inner_broadcast", 0) and bias.ndim != data.ndim:
        raise NotImplementedError(f"the bias must be of rank {data.ndim}; it is of {bias.ndim}")
    total = data.astype(np.float64) + bias
    axes = tuple(range(int(attributes.get("axis", 1)) % data.ndim, data.ndim))
    grown = np.exp(total - total.max(axis=axes, keepdims=True))
    return ((grown / grown.sum(axis=axes, keepdims=True)).astype(data.dtype),)


@rewrite(_NAME, emits="Add Flatten Reshape Shape Softmax", evaluate=evaluate)
def bias_softmax_to_softmax(node: NodeView, build: Builder) -> Value:
    """Add and write Softmax, see the module."""
    data, bias = node.need(0), node.need(1)
    need_float(data)
    rank = need_rank(data, 1)
    if node.attr("is_inner_broadcast", 0) and bias.rank != rank:
        raise Refuse(f"{bias.name} must be of rank {rank}; its rank is {bias.rank}")
    axis = int(node.attr("axis", 1)) % rank
    total = build.Add(data, bias)
    if axis == rank - 1:
        return build.Softmax(total, axis=axis)
    flat = build.Softmax(build.Flatten(total, axis=axis), axis=1)
    return build.Reshape(flat, build.Shape(data))
