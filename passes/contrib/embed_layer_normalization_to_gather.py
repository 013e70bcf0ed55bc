"""Take EmbedLayerNormalization apart.

What it does:
    Looks up words, positions and segments, adds them, and normalises the sum over the last axis.
    The mask index is the number of ones in the mask, zero without a mask.

Why engines need it:
    It is an operator of onnxruntime's optimiser; other engines do not know it ("getPluginCreator
    could not find plugin: EmbedLayerNormalization").

Before:
    y, m = com.microsoft.EmbedLayerNormalization (ids, , words, positions, , gamma, beta)

After:
    s = Add (Gather (words, ids), Slice (positions, 0, length))
    away = Sub (s, ReduceMean (s))
    y = Add (Mul (Div (away, Sqrt (Add (ReduceMean (Mul (away, away)), 1e-12))), gamma), beta)

When it refuses:
    The mask index has another form than the default, or the size of the embedding or the rank of
    the ids are unknown.

Accuracy:
    Exact up to the order of summation; float16 is computed in float32.

References:
    microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.EmbedLayerNormalization;
    onnxruntime/contrib_ops/cpu/bert/embed_layer_norm.cc; NVIDIA/TensorRT issue 1515
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, InferredType, NodeView, Refuse, Value, rewrite
from graphfix.passes.contrib._typing import LOW_PRECISION, need_float

_NAME = "com.microsoft::EmbedLayerNormalization"
_DEFAULT_EPSILON = 1e-12


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """[batch, length, hidden] of the words' type, twice, and one number for each batch."""
    ids, words = node.input(0), node.input(2)
    if ids is None or words is None or not words.elem_type:
        return (None,)
    shape = None
    if ids.shape is not None and words.shape is not None and len(words.shape) == 2:
        shape = (*ids.shape, words.shape[1])
    result = InferredType(words.elem_type, shape)
    batch = None if not ids.shape else (ids.shape[0],)
    return (result, InferredType(int(TensorProto.INT32), batch), result)


@rewrite(
    _NAME,
    removes=f"op:{_NAME}",
    emits=(
        "Add Cast Concat Div Equal Expand Gather Mul ReduceMean ReduceSum Shape Slice Sqrt Squeeze "
        "Sub"
    ),
    infer=infer,
)
def embed_layer_normalization_to_gather(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Look up, add and normalise, see the module."""
    ids, words, positions = node.need(0), node.need(2), node.need(3)
    need_float(words)
    size = words.dim(-1)
    if ids.rank != 2 or not size:
        raise Refuse("the rank of the ids must be 2 and the size of the embedding known")
    if int(node.attr("mask_index_type", 1)) not in (0, 1):
        raise Refuse(
            "the mask index must have the default form; mask_index_type is "
            f"{node.attr('mask_index_type')}"
        )
    total = build.Gather(words, ids, axis=0)
    chosen = node.input(8)
    if chosen is not None:
        total = build.Add(total, build.Gather(positions, chosen, axis=0))
    else:
        total = build.Add(total, _first(positions, ids, build))
    segments, table = node.input(1), node.input(4)
    if segments is not None and table is not None:
        total = build.Add(total, build.Gather(table, segments, axis=0))
    low = words.elem_type in LOW_PRECISION

    def wide(value: Value) -> Value:
        return build.Cast(value, to=TensorProto.FLOAT) if low else value

    def mean(value: Value) -> Value:
        # From opset 18 on ReduceMean takes its axes as an input, which not every engine reads.
        if build.opset < 18:
            return build.ReduceMean(value, axes=[2], keepdims=1)
        return build.Div(build.ReduceSum(value, axes=[2], keepdims=1), float(size))

    away = build.Sub(wide(total), mean(wide(total)))
    epsilon = float(node.attr("epsilon", _DEFAULT_EPSILON))
    deviation = build.Sqrt(build.Add(mean(build.Mul(away, away)), epsilon))
    scaled = build.Mul(build.Div(away, deviation), wide(node.need(5)))
    result = build.Add(scaled, wide(node.need(6)))
    results = (build.Cast(result, to=words.elem_type) if low else result, None, total)
    index = node.output(1)
    given = (results[0], None if index is None else _mask_index(node, ids, build), results[2])
    return tuple(v if node.output(i) is not None else None for i, v in enumerate(given))[
        : len(node.outputs)
    ]


def _first(positions: Value, ids: Value, build: Builder) -> Value:
    """Return the embeddings of the positions 0, 1, ... up to the length of the ids."""
    length = ids.dim(1)
    if length is not None:
        return build.Slice(positions, starts=[0], ends=[length], axes=[0])
    end = build.Gather(build.Shape(ids), np.array([1]), axis=0)
    return build.Slice(positions, np.array([0]), end, np.array([0]))


def _mask_index(node: NodeView, ids: Value, build: Builder) -> Value:
    mask = node.input(7)
    if mask is not None:
        ones = build.Cast(build.Equal(mask, np.int32(1)), to=TensorProto.INT32)
        return build.ReduceSum(ones, axes=[1], keepdims=0)
    batch = ids.dim(0)
    if batch is not None:
        return build.constant(np.zeros(batch, np.int32))
    size = build.Gather(build.Shape(ids), np.array([0]), axis=0)
    return build.Expand(build.constant(np.zeros(1, np.int32)), size)
