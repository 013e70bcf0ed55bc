"""Replace embedding_bag by Gather and a sum for each bag.

What it does:
    Gathers the rows of all indices, cuts them into bags where the offsets say, and sums each bag,
    takes its mean or its largest elements.

Why engines need it:
    ONNX has no embedding_bag, and exporters wrote an ATen node.

Before:
    y = ATen <operator = "embedding_bag", mode = 0> (weight, indices, offsets)

After:
    rows = Gather (weight, indices)
    y = Concat <axis = 0> (ReduceSum <axes = {0}> (Slice (rows, 0, 2)), ...)

When it refuses:
    The offsets are computed at run time, there are more than `max_bags`, the number of indices is
    unknown, rows are weighed or left out, or another output than the first is used.

Accuracy:
    Exact up to the order of summation. An empty bag gives zeros.

References:
    pytorch/pytorch aten/src/ATen/native/EmbeddingBag.cpp
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphfix.authoring import (
    Array,
    Builder,
    InferredType,
    NodeView,
    Option,
    Refuse,
    Value,
    rewrite,
)
from graphfix.passes.aten._arguments import ArrayCall, call_of, features, matching

NAMES = ("embedding_bag",)
SCHEMA = (
    "weight",
    "indices",
    "offsets",
    "scale_grad_by_freq",
    "mode",
    "sparse",
    "per_sample_weights",
    "include_last_offset",
    "padding_idx",
)
_SUM, _MEAN, _MAX = range(3)


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """One row of the table's width for each bag."""
    weight, offsets = node.input(0), node.input(2)
    if weight is None or not weight.elem_type:
        return (None,)
    if weight.shape is None or len(weight.shape) != 2:
        return (InferredType(weight.elem_type, None),)
    known = offsets is not None and offsets.shape is not None and not len(node.inputs) > 7
    bags = offsets.shape[0] if known and offsets is not None and offsets.shape else None
    return (InferredType(weight.elem_type, (bags, weight.shape[1])),)


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Reduce each bag with numpy."""
    call = ArrayCall(inputs, attributes, SCHEMA)
    weight, offsets = call.need("weight"), call.need("offsets")
    rows = weight[call.need("indices")]
    ends = [*offsets.tolist(), len(rows)]
    if call.number("include_last_offset", 0):
        ends = ends[:-1]
    reduce = (np.sum, np.mean, np.max)[int(call.number("mode", 0))]
    bags = [
        reduce(rows[low:high], axis=0) if high > low else np.zeros(weight.shape[1], weight.dtype)
        for low, high in itertools.pairwise(ends)
    ]
    return (np.stack(bags).astype(weight.dtype),)


@rewrite(
    matching(NAMES),
    removes=features(NAMES),
    emits="Concat Div Gather ReduceMax ReduceSum Slice",
    infer=infer,
    evaluate=evaluate,
    options={"max_bags": Option(int, 64, "More bags are refused.")},
)
def aten_embedding_bag(node: NodeView, build: Builder) -> Value:
    """Reduce bags, see the module."""
    call = call_of(node, {"embedding_bag": SCHEMA})
    weight, indices = call.need("weight"), call.need("indices")
    mode = int(call.number("mode", 0))
    if call.tensor("per_sample_weights") is not None:
        raise Refuse("the rows must have no weights of their own; they have")
    if call.number("padding_idx", -1) >= 0 or mode not in (_SUM, _MEAN, _MAX):
        raise Refuse("no row may be left out, and the mode must be sum, mean or max")
    if any(value is not None and value.is_used for value in node.outputs[1:]):
        raise Refuse("only the first output may be used; another one is")
    offsets = call.entries("offsets")
    width, count = weight.dim(1), indices.dim(0)
    if offsets is None or indices.rank != 1 or count is None or not width or weight.dtype is None:
        raise Refuse("the offsets, the number of indices and the width of the table must be known")
    ends = [int(offset) for offset in offsets]
    if not call.number("include_last_offset", 0):
        ends.append(count)
    if len(ends) - 1 > build.option("max_bags") or ends != sorted(ends) or ends[-1] > count:
        raise Refuse(
            f"there must be at most max_bags bags, one after the other; there are {len(ends) - 1}"
        )
    rows = build.Gather(weight, indices, axis=0)
    sizes = [high - low for low, high in itertools.pairwise(ends)]
    if sizes == [1] * count and ends[0] == 0:
        return rows
    bags = [
        _bag(build, rows, low, size, mode, np.zeros((1, width), weight.dtype))
        for low, size in zip(ends[:-1], sizes, strict=True)
    ]
    return bags[0] if len(bags) == 1 else build.Concat(*bags, axis=0)


def _bag(build: Builder, rows: Value, low: int, size: int, mode: int, nothing: Array) -> Value:
    if not size:
        return build.constant(nothing)
    bag = build.Slice(rows, starts=[low], ends=[low + size], axes=[0])
    if size == 1:
        return bag
    if mode == _MAX:
        return build.ReduceMax(bag, axes=[0], keepdims=1)
    total = build.ReduceSum(bag, axes=[0], keepdims=1)
    return build.Div(total, float(size)) if mode == _MEAN else total
