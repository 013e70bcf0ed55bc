"""Take EmbedLayerNormalization apart.

What it does: Looks up words, positions and segments, adds them, and normalises the sum over the
    last axis. The mask index is the number of ones in the mask, zero without a mask.
Why engines need it: It is an operator of onnxruntime's optimiser; other engines do not know it
    ("getPluginCreator could not find plugin: EmbedLayerNormalization").
Before: y, m = com.microsoft.EmbedLayerNormalization (ids, , words, positions, , gamma, beta)
After:
    s = Add (Gather (words, ids), Slice (positions, 0, length))
    away = Sub (s, ReduceMean (s))
    y = Add (Mul (Div (away, Sqrt (Add (ReduceMean (Mul (away, away)), 1e-12))), gamma), beta)
When it refuses: The mask index has another form than the default, or the size of the embedding or
    the rank of the ids are unknown.
Accuracy: Exact up to the order of summation; float16 is computed in float32.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.EmbedLayerNormalization;
    onnxruntime/contrib_ops/cpu/bert/embed_layer_norm.cc; NVIDIA/TensorRT issue 1515
"""

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, InferredType, NodeView, Refuse, Value, rewrite

from ._means import like, normalized, wide
from ._typing import need_float

_NAME, _QUANTIZED = (
    "com.microsoft::EmbedLayerNormalization",
    "com.microsoft::QEmbedLayerNormalization",
)
_SCALES, _ZEROS = 8, 13  # of the words, the positions, the segments, gamma and beta
_DEFAULT_EPSILON = 1e-12


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """[batch, length, hidden] of the words' type, twice, and one value for each batch.

    ONNX infers less of what is written: it loses the names of sizes.
    """
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
    emits=(
        "Add Cast Concat Div Equal Expand Gather Mul ReduceMean ReduceSum Shape Slice Sqrt Squeeze "
        "Sub"
    ),
    infer=infer,
)
def embed_layer_normalization_to_gather(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Look up, add and normalise, see the module."""
    if int(node.attr("mask_index_type", 1)) not in (0, 1):
        raise Refuse(
            "the mask index must have the default form; mask_index_type is "
            f"{node.attr('mask_index_type')}"
        )
    tables = [node.need(2), node.need(3), node.input(4), node.need(5), node.need(6)]
    return _embedded(node, build, tables, node.input(8))


def infer_quantized(node: NodeView) -> Sequence[InferredType | None]:
    """[batch, length, hidden] of the type of the scales, and one value for each batch.

    What is written for it reads the weights, which a look at types must not.
    """
    scale = node.input(_SCALES)
    result, index, _ = (*infer(node), None, None)[:3]
    if scale is None or not scale.elem_type or result is None:
        return (None,)
    return (InferredType(scale.elem_type, result.shape), index)


@rewrite(
    _QUANTIZED,
    emits=(
        "Add Cast Concat Div Equal Expand Gather Mul ReduceMean ReduceSum Shape Slice Sqrt Squeeze "
        "Sub"
    ),
    infer=infer_quantized,
)
def q_embed_layer_normalization_to_gather(
    node: NodeView, build: Builder
) -> tuple[Value | None, ...]:
    """Take QEmbedLayerNormalization apart: tables of floats, and EmbedLayerNormalization."""
    tables = [_real(node, build, place) for place in range(5)]
    return _embedded(node, build, tables, None)


def _real(node: NodeView, build: Builder, place: int) -> Value | None:
    """Return what the values of a constant table stand for."""
    table = node.input(2 + place)
    if table is None:
        return None
    numbers = build.need_const(table, "a table")
    scale = build.need_const(node.need(_SCALES + place), "a scale").reshape(-1)
    zero = build.need_const(node.need(_ZEROS + place), "a zero point").reshape(-1)
    if scale.size != 1 or zero.size != 1 or scale.dtype != np.float32:
        raise Refuse("each table must have one scale of float32 and one zero point; one has not")
    steps = numbers.astype(np.float32) - zero.astype(np.float32)[0]
    return build.constant(steps * scale[0])


def _embedded(
    node: NodeView, build: Builder, tables: Sequence[Value | None], chosen: Value | None
) -> tuple[Value | None, ...]:
    """Return normalised embeddings, the mask index and the sum.

    Args:
        node: The node.
        build: The builder.
        tables: Words, positions, segments, gamma and beta.
        chosen: The positions that are looked up; None for 0, 1, ...
    """
    words, positions, table, gamma, beta = tables
    ids, segments = node.need(0), node.input(1)
    if words is None or positions is None or gamma is None or beta is None:
        raise Refuse("words, positions, gamma and beta must be given; one is not")
    need_float(words)
    size = words.dim(-1)
    if ids.rank != 2 or not size:
        raise Refuse("the rank of the ids must be 2 and the size of the embedding known")
    total = build.Gather(words, ids, axis=0)
    if chosen is not None:
        total = build.Add(total, build.Gather(positions, chosen, axis=0))
    else:
        total = build.Add(total, _first(positions, ids, build))
    if segments is not None and table is not None:
        total = build.Add(total, build.Gather(table, segments, axis=0))
    epsilon = float(node.attr("epsilon", _DEFAULT_EPSILON))
    scaled = build.Mul(normalized(build, wide(build, total), [2], epsilon), wide(build, gamma))
    result = like(build, words, build.Add(scaled, wide(build, beta)))
    index = node.output(1)
    given = (result, None if index is None else _mask_index(node, ids, build), total)
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
