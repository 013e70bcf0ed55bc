"""Take MRotaryEmbedding and GemmaRotaryEmbedding apart.

What it does: MRotaryEmbedding: looks cosines and sines of three positions of each token up, takes
    each column from the position that its section says, and turns the pairs as RotaryEmbedding
    does. GemmaRotaryEmbedding: computes cosine and sine of the angles, and adds what is turned
    already.
Why engines need it: They are operators of onnxruntime's optimiser (Qwen-VL, Gemma); other engines
    do not know them.
Before: y = com.microsoft.MRotaryEmbedding <mrope_section = [16, 24, 24]> (x, positions, cos, sin)
After:
    c = Gather (cos, positions)                        # [3, B, S, 64]
    c = Where (of the width, c[2], Where (of the height, c[1], c[0]))
    y = Concat (Sub (Mul (a, c), Mul (b, s)), Add (Mul (b, c), Mul (a, s)))
When it refuses: A rank or a size is unknown or does not fit, the sections are interleaved
    (mrope_layout 1), the batch is packed, or there is a scale.
Accuracy: Exact up to rounding; float16 is computed in float32.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.MRotaryEmbedding,
    com.microsoft.GemmaRotaryEmbedding
"""

from typing import Any

import numpy as np

from graphfix.authoring import (
    Array,
    Builder,
    NodeView,
    Refuse,
    Value,
    need_rank_of,
    rewrite,
)

from ._attention import wide
from ._means import like
from ._rotating import turned

_MULTI, _GEMMA = "com.microsoft::MRotaryEmbedding", "com.microsoft::GemmaRotaryEmbedding"


def evaluate(inputs: list[Array | None], _: dict[str, Any]) -> tuple[Array, ...]:
    """Round cosines and sines to float16 as the operator does, and add in float64."""
    angles, *rest = (np.asarray(x) for x in inputs)
    kind = rest[0].dtype
    cos, sin = (f(angles).astype(kind)[:, None].astype(np.float64) for f in (np.cos, np.sin))
    q, turned_q, k, turned_k = (x.astype(np.float64) for x in rest)
    return (q * cos + turned_q * sin).astype(kind), (k * cos + turned_k * sin).astype(kind)


@rewrite(
    _MULTI,
    emits="Add Cast Concat Gather Mul Reshape Split Sub Unsqueeze Where",
)
def multimodal_rotary_to_mul(node: NodeView, build: Builder) -> Value:
    """Turn the pairs by three positions, see the module."""
    x, ids, half = node.need(0), node.need(1), node.need(2).dim(1)
    rank = need_rank_of(x, 3, 4)
    sections = [int(size) for size in node.attr("mrope_section", ())]
    if int(node.attr("mrope_layout", 0)) or int(node.attr("is_packed_batching", 0)):
        raise Refuse("the sections must be chunks and the batch not packed; one is otherwise")
    if float(node.attr("scale", 1.0)) != 1 or need_rank_of(ids, 3) != 3:
        raise Refuse("the scale must be 1; it is not")
    if not half or len(sections) != 3 or sum(sections) != half:
        raise Refuse(f"the sections must make up the columns of the cosines; they are {sections}")
    last = x.dim(-1)
    heads = x.dim(1) if rank == 4 else int(node.attr("num_heads", 0))
    if rank == 3 and last and not heads:
        heads = last // (2 * half)
    head = last if rank == 4 else last // heads if last and heads else None
    if not head or not heads or 2 * half > head:
        raise Refuse(f"the size of a head must be known and at least {2 * half}; it is {head}")
    data = wide(build, x)
    if rank == 3:
        data = build.Reshape(data, np.array([0, 0, heads, head]))
    columns = np.repeat(np.arange(3), sections)
    angles = [
        build.Unsqueeze(_of_sections(node, build, place, columns), axes=[1 if rank == 4 else 2])
        for place in (2, 3)
    ]
    near = bool(node.attr("interleaved", 0))
    result = turned(build, data, (angles[0], angles[1]), (2 * half, head), interleaved=near)
    if rank == 3:
        result = build.Reshape(result, np.array([0, 0, heads * head]))
    return like(build, x, result)


def _of_sections(node: NodeView, build: Builder, place: int, columns: Array) -> Value:
    rows = build.Gather(wide(build, node.need(place)), node.need(1), axis=0)
    streams = [build.Gather(rows, np.array(at), axis=0) for at in range(3)]
    chosen = streams[0]
    for at in (1, 2):
        chosen = build.Where(build.constant(columns == at), streams[at], chosen)
    return chosen


@rewrite(_GEMMA, emits="Add Cast Cos Mul Sin Unsqueeze", evaluate=evaluate)
def gemma_rotary_to_mul(node: NodeView, build: Builder) -> tuple[Value, ...]:
    """Take GemmaRotaryEmbedding apart: q cos + (turned q) sin, and the same for the keys."""
    angles, results = node.need(0), list[Value]()
    curves = [build.Cos(angles), build.Sin(angles)]
    for place in (1, 3):
        x, other = node.need(place), node.need(place + 1)
        cos, sin = (
            wide(build, build.Cast(build.Unsqueeze(curve, axes=[1]), to=x.elem_type))
            for curve in curves
        )
        total = build.Add(build.Mul(wide(build, x), cos), build.Mul(wide(build, other), sin))
        results.append(like(build, x, total))
    return tuple(results[: len(node.outputs)])
