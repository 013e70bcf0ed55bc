"""Fuse two products around a softmax into Attention.

What it does: Replaces softmax(q @ k' * scale + mask) @ v by Attention. The scale may be at the
    product, as a factor or a divisor, or at q and at k', as PyTorch writes it; the mask is
    optional. The keys are transposed back, which undoes the Transpose before. It runs only when it
    is named. With the option contrib, MultiHeadAttention of com.microsoft is emitted below opset
    23.
Why engines need it: Fused kernels never write the scores, which grow with the square of the length.
Before:
    s = Softmax (Add (Div (MatMul (q, Transpose (k)), 8), mask))
    y = MatMul (s, v)
After: y = Attention <scale = 0.125> (q, k, v, mask)
When it refuses: Below opset 23 without the option contrib; q, k and v that do not all have four
    dimensions and the same batch and heads; a mask that gives the scores more dimensions or sizes,
    or has less than two; for MultiHeadAttention sizes that are not known or differ. Where the
    scores have another reader it is no match.
Accuracy: Exact up to rounding; approximate for float16 and bfloat16, which are rounded less often,
    and for free sizes: onnxruntime 1.32 refuses an empty batch, which the products take. Rows that
    the mask takes away whole (-inf) are NaN before, and what the engine likes afterwards.
References: https://onnx.ai/onnx/operators/onnx__Attention.html; microsoft/onnxruntime
    docs/ContribOperators.md, com.microsoft.MultiHeadAttention; what PyTorch 2.13 writes with either
    exporter for scaled_dot_product_attention
"""

import numpy as np

from graphfix.authoring import (
    APPROXIMATE,
    NAMED,
    Builder,
    Find,
    Match,
    Refuse,
    Sought,
    Value,
    rewrite,
)

from ._fused import CONTRIB, rounds_less

_NOTE = "for sizes above 0: onnxruntime 1.32 refuses an empty batch of Attention"


@rewrite.pattern
def _attending(
    find: Find,
    q: Sought,
    keys: Sought,
    v: Sought,
    mask: Sought,
    of_q: Sought,
    of_keys: Sought,
    factor: Sought,
    divisor: Sought,
) -> Sought:
    queries = find.either(q * find.number(of_q), q)
    transposed = find.either(keys * find.number(of_keys), keys)
    product = queries @ transposed
    scaled = find.either(product * find.number(factor), product / find.number(divisor), product)
    scores = find.either(scaled + mask, scaled)
    return find.Softmax(scores, axis=-1) @ v


@rewrite(
    _attending,
    emits="Attention Concat Expand Reshape Shape Slice Transpose com.microsoft::MultiHeadAttention",
    stage=NAMED,
    options=CONTRIB,
)
def attention_fusion(match: Match, build: Builder) -> Value:
    """Emit one node, see the module."""
    q, keys, v, mask = match["q"], match["keys"], match["v"], match.get("mask")
    _check_shapes(q, keys, v, mask)
    rounds_less(build, q)
    if any(value.static_shape is None for value in (q, keys, v)):
        build.declare(APPROXIMATE, _NOTE)
    numbers = {
        name: match.number(name)
        for name in ("of_q", "of_keys", "factor", "divisor")
        if match.has(name)
    }
    scale = 1.0
    for name, number in numbers.items():
        scale = scale / number if name == "divisor" else scale * number
    k = _transposed(build, keys)
    mask = None if mask is None else _with_rows(build, mask, q)
    if build.opset >= 23:
        return build.Attention(q, k, v, mask, scale=scale)
    if not build.option("contrib"):
        raise Refuse(f"Attention needs opset 23 or the option contrib; this is opset {build.opset}")
    return _multi_head(build, q, k, v, mask, scale)


def _check_shapes(q: Value, keys: Value, v: Value, mask: Value | None) -> None:
    """Look at what the products broadcast, which Attention does not.

    Raises:
        Refuse: It would be something.
    """
    shapes = [value.shape for value in (q, keys, v)]
    four = [shape for shape in shapes if shape is not None and len(shape) == 4]
    if len(four) < 3:
        raise Refuse(f"queries, keys and values must have rank 4; {3 - len(four)} of them do not")
    if None in four[0][:2] or any(shape[:2] != four[0][:2] for shape in four):
        raise Refuse(
            "queries, keys and values must have the same batch and heads;"
            f" their shapes are {', '.join(str(list(shape)) for shape in four)}"
        )
    if mask is None:
        return
    if mask.shape is None or len(mask.shape) > 4:
        raise Refuse(f"the mask must have at most rank 4; its shape is {mask.shape}")
    scores = (*four[0][:3], four[1][3])
    for size, whole in zip(reversed(mask.shape), reversed(scores), strict=False):
        if size != 1 and (size is None or size != whole):
            raise Refuse(
                "the mask must broadcast to the scores;"
                f" its shape is {list(mask.shape)}, and theirs {list(scores)}"
            )


def _with_rows(build: Builder, mask: Value, q: Value) -> Value:
    """Return a mask with a row for each query, which onnxruntime 1.32 wants of it."""
    rank = mask.rank or 0
    if (mask.dim(-2) != 1 and rank > 1) or q.dim(2) == 1:
        return mask
    if rank < 2:
        raise Refuse(f"the mask must have at least rank 2; it has {rank}")
    length = q.dim(2)
    if length is not None:
        return build.Expand(mask, [*[1] * (rank - 2), length, 1])
    rows = build.Slice(build.Shape(q), starts=[2], ends=[3], axes=[0])
    parts = [np.ones(rank - 2, np.int64)] if rank > 2 else []
    return build.Expand(mask, build.Concat(*parts, rows, np.ones(1, np.int64), axis=0))


def _transposed(build: Builder, keys: Value) -> Value:
    """Return keys with their last two axes exchanged: what was transposed, where that is known."""
    node = keys.producer
    if node is not None and node.op == "Transpose" and not node.domain:
        axes = list(node.attr("perm") or [3, 2, 1, 0])
        if axes == [0, 1, 3, 2]:
            return node.need(0)
        if len(axes) == 4:
            return build.Transpose(node.need(0), perm=[axes[0], axes[1], axes[3], axes[2]])
    before = _before_flat(keys)
    if before is not None:
        return before
    return build.Transpose(keys, perm=[0, 1, 3, 2])


def _before_flat(keys: Value) -> Value | None:
    """Return what was flattened to three axes, transposed and given four again; None for others."""
    back = keys.producer
    turned = back.need(0).producer if back is not None and back.op == "Reshape" else None
    if turned is None or turned.op != "Transpose" or turned.attr("perm") != [0, 2, 1]:
        return None
    flat = turned.need(0).producer
    k = flat.need(0) if flat is not None and flat.op == "Reshape" else None
    before, after = (None, None) if k is None else (k.static_shape, keys.static_shape)
    if k is None or before is None or after is None or len(before) != 4:
        return None
    exchanged = (*before[:2], before[3], before[2])
    middle = turned.need(0).static_shape
    return k if after == exchanged and middle is not None and middle[1:] == before[2:] else None


def _multi_head(
    build: Builder, q: Value, k: Value, v: Value, mask: Value | None, scale: float
) -> Value:
    """Return the node of com.microsoft, which has heads and their sizes in one dimension."""
    heads, size, given = q.dim(1), q.dim(3), v.dim(3)
    if heads is None or size is None or given != size:
        raise Refuse("the number of heads must be known, and queries and values of one known size")
    if mask is not None and mask.rank != 4:
        raise Refuse(f"the mask of MultiHeadAttention must have rank 4; it has {mask.rank}")
    joined = build.Reshape(build.Transpose(q, perm=[0, 2, 1, 3]), [0, 0, heads * size])
    y = build.node(
        "com.microsoft::MultiHeadAttention",
        *(joined, k, v, None, None, mask),
        num_heads=heads,
        scale=scale,
    )
    return build.Transpose(build.Reshape(y, [0, 0, heads, given]), perm=[0, 2, 1, 3])
