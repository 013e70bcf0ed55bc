"""Take RelativePositionBias and GatedRelativePositionBias apart.

What it does: Looks the bucket of each distance between a query and a key up in a vector that is
    known beforehand (distances beyond max_distance share one bucket), and the bias of the bucket in
    the table. GatedRelativePositionBias is written as its page does.
Why engines need it: They are operators of onnxruntime's optimiser for graphics processors (T5,
    WavLM); other engines do not know them, and onnxruntime itself does not have them on a CPU.
Before: y = com.microsoft.RelativePositionBias <max_distance = 128> (table, queries, keys)
After:
    bucket = Gather (buckets, Add (Clip (key - query, -128, 128), 128))
    y = Unsqueeze (Gather <axis = 1> (Reshape (table, [heads, buckets]), bucket), 0)
When it refuses: A size of the table or of a head is unknown, or tokens are packed (token_offset).
Accuracy: Exact: buckets are integers. The gates up to the order of summation; float16 is
    computed in float32.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.RelativePositionBias (its
    table lies in memory by heads, whatever its shape says),
    com.microsoft.GatedRelativePositionBias;
    onnxruntime/contrib_ops/cuda/bert/relative_attn_bias_impl.cu
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, InferredType, NodeView, Refuse, Value, rewrite

from ._attention import heads_of, size_of_head
from ._means import like, wide
from ._typing import need_float

_PLAIN = "com.microsoft::RelativePositionBias"
_GATED = "com.microsoft::GatedRelativePositionBias"
_MOST = 1 << 20


def buckets(distances: Array, count: int, most: int, *, both: bool) -> Array:
    """Return the bucket of each distance of a key from a query, int64.

    Args:
        distances: Place of the key less that of the query.
        count: How many buckets there are.
        most: The distance from which on the last one holds.
        both: Whether later keys have buckets of their own; else they share that of distance 0.
    """
    start: Array = np.zeros(distances.shape, np.int64)
    if both:
        count //= 2
        start = np.where(distances > 0, count, 0)
        away = np.abs(distances)
    else:
        away = np.maximum(-distances, 0)
    exact = count // 2
    ratio = np.log(np.maximum(away, 1).astype(np.float32) / np.float32(exact))
    share = ratio / np.log(np.float32(most / exact)) * np.float32(count - exact)
    large = np.minimum(exact + share.astype(np.int64), count - 1)
    return start + np.where(away < exact, away, large)


def infer_gated(node: NodeView) -> Sequence[InferredType | None]:
    """[B, heads, S, S].

    ONNX infers less of what is written: it loses the names of sizes.
    """
    query = node.input(0)
    if query is None or not query.elem_type:
        return (None,)
    if query.shape is None or len(query.shape) != 3:
        return (InferredType(query.elem_type),)
    batch, length, _ = query.shape
    heads = int(node.attr("num_heads", 0)) or None
    return (InferredType(query.elem_type, (batch, heads, length, length)),)


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Look every bucket up."""
    table, queries, keys = inputs[:3]
    assert table is not None  # the schema wants all three
    assert queries is not None
    assert keys is not None
    count, heads = table.shape
    lengths = [int(x.reshape(())) for x in (queries, keys)]
    distances = np.arange(lengths[1])[None, :] - np.arange(lengths[0])[:, None]
    both = bool(attributes.get("is_bidirectional", 0))
    found = buckets(distances, count, int(attributes["max_distance"]), both=both)
    return (table.reshape(heads, count)[:, found][None],)


def evaluate_gated(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Compute in float64."""
    query, own, bias, weight, more, eco = (np.asarray(x, np.float64) for x in inputs[:6])
    heads = int(attributes["num_heads"])
    batch, length, _ = query.shape
    parts = (query + own).reshape(batch, length, heads, -1).transpose(0, 2, 1, 3) @ weight + more
    sums = parts.reshape(batch, heads, length, 2, -1).sum(axis=-1)
    gates = 1 / (1 + np.exp(-sums))
    gate = gates[..., :1] * (gates[..., 1:] * eco - 1) + 2
    return ((gate * bias).astype(np.asarray(inputs[0]).dtype),)


@rewrite(_PLAIN, emits="Add Cast Clip Gather Range Reshape Sub Unsqueeze", evaluate=evaluate)
def relative_position_bias_to_gather(node: NodeView, build: Builder) -> Value:
    """Look the buckets up, see the module."""
    table = node.need(0)
    count, heads = (table.dim(0), table.dim(1)) if table.rank == 2 else (None, None)
    most = int(node.attr("max_distance"))
    if not count or not heads or not 0 < most < _MOST:
        raise Refuse("the sizes of the table must be known, and the largest distance be positive")
    both = bool(node.attr("is_bidirectional", 0))
    known = buckets(np.arange(-most, most + 1), count, most, both=both)
    places = [_places(build, node.need(place)) for place in (1, 2)]
    distance = build.Sub(build.Unsqueeze(places[1], axes=[0]), build.Unsqueeze(places[0], axes=[1]))
    real = build.Cast(distance, to=TensorProto.FLOAT)
    near = build.Clip(real, min=np.float32(-most), max=np.float32(most))
    index = build.Add(build.Cast(near, to=TensorProto.INT64), np.int64(most))
    bucket = build.Gather(build.constant(known), index, axis=0)
    rows = build.Reshape(table, np.array([heads, count]))
    return build.Unsqueeze(build.Gather(rows, bucket, axis=1), axes=[0])


def _places(build: Builder, length: Value) -> Value:
    known = build.const(length)
    if known is not None and int(known.reshape(())) <= _MOST:
        return build.constant(np.arange(int(known.reshape(())), dtype=np.int64))
    count = build.Cast(build.Reshape(length, np.array([], np.int64)), to=TensorProto.INT64)
    return build.Range(np.int64(0), count, np.int64(1))


@rewrite(
    _GATED,
    emits="Add Cast MatMul Mul ReduceSum Reshape Sigmoid Split Sub Transpose",
    infer=infer_gated,
    evaluate=evaluate_gated,
)
def gated_relative_position_bias_to_mul(node: NodeView, build: Builder) -> Value:
    """Take GatedRelativePositionBias apart: two gates of each query, times the bias."""
    query = node.need(0)
    need_float(query)
    if query.rank != 3 or node.input(6) is not None:
        raise Refuse("tokens must not be packed; they are, or the rank is unknown")
    heads = heads_of(node)
    head = size_of_head(query.dim(2), heads, "the queries")
    total = build.Add(wide(build, query), wide(build, node.need(1)))
    apart = build.Transpose(build.Reshape(total, np.array([0, 0, heads, head])), perm=[0, 2, 1, 3])
    product = build.MatMul(apart, wide(build, node.need(3)))
    width = node.need(3).dim(1)
    if not width or width % 2:
        raise Refuse(f"the columns of {node.need(3).name} must be known and even; they are {width}")
    product = build.Add(product, wide(build, node.need(4)))
    pairs = build.Reshape(product, np.array([0, 0, 0, 2, width // 2]))
    gates = build.Sigmoid(build.ReduceSum(pairs, axes=[4], keepdims=0))
    first, second = build.multi("Split", gates, outputs=2, axis=3, split=[1, 1])
    inner = build.Sub(build.Mul(second, wide(build, node.need(5))), 1.0)
    gate = build.Add(build.Mul(first, inner), 2.0)
    return like(build, query, build.Mul(gate, wide(build, node.need(2))))
