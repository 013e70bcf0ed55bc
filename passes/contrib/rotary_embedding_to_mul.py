"""Take onnxruntime's RotaryEmbedding apart.

What it does: Looks up cosines and sines of the positions, and turns each pair of numbers by its
    angle. The pairs are neighbours (interleaved), or the two halves of a head; what is beyond
    rotary_embedding_dim stays as it is.
Why engines need it: It is an operator of onnxruntime's optimiser; TensorRT reads none before ONNX
    had its own.
Before: y = com.microsoft.RotaryEmbedding (x, positions, cos, sin)
After:
    a, b = Split (x)                       the halves of each head
    c, s = Gather (cos, positions), Gather (sin, positions)
    y = Concat (Sub (Mul (a, c), Mul (b, s)), Add (Mul (b, c), Mul (a, s)))
When it refuses: The rank, dtype or a size is unknown or does not fit.
Accuracy: Exact up to rounding; float16 is computed in float32. A scale is not looked at, as in
    onnxruntime: its kernels for CPUs and for CUDA read the attribute and do not use it. Packed
    batches let a sequence be longer than the cache; the positions say what is looked up.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.RotaryEmbedding;
    onnxruntime/contrib_ops/cpu/bert/rotary_embedding.cc, rotary_embedding_helper.h;
    onnxruntime/contrib_ops/cuda/bert/rotary_embedding.cc
"""

import numpy as np
from msgspec import Struct

from graphfix.authoring import Builder, NodeView, Refuse, Value, like_first, need_rank_of, rewrite

from ._attention import numbered, size, wide
from ._means import like
from ._rotating import turned

_NAME = "com.microsoft::RotaryEmbedding"


class _Form(Struct, frozen=True):
    """Number and size of the heads, and how much of each is turned."""

    heads: int
    head: int
    turned: int


def _form(node: NodeView, x: Value) -> _Form:
    """Return the form.

    Raises:
        Refuse: A size is unknown, or two do not fit.
    """
    half = node.need(2).dim(1)
    last = x.dim(-1)
    if not half or node.need(3).dim(1) != half or not last:
        raise Refuse("the sizes of the cosines, the sines and the input must be known and fit")
    turned = int(node.attr("rotary_embedding_dim", 0))
    heads = int(node.attr("num_heads", 0))
    if x.rank == 4:
        heads, head = x.dim(1) or 0, last
    elif turned:
        head = last // heads if heads else 0
    else:
        head = 2 * half
        heads = heads or last // head
    turned = turned or head
    if turned != 2 * half or turned > head or (x.rank == 3 and heads * head != last):
        raise Refuse(
            f"the heads must make up the last size, {last}; they are {heads} of {head}, {turned} "
            "of each turned"
        )
    return _Form(heads, head, turned)


@rewrite(
    _NAME,
    emits="Add Cast Concat Gather Mul Range Reshape Shape Slice Split Squeeze Sub Unsqueeze",
    infer=like_first,
)
def rotary_embedding_to_mul(node: NodeView, build: Builder) -> Value:
    """Turn the pairs, see the module."""
    # The one is not used by kernels, the other lifts a limit of the sequence's length.
    node.waive(("scale", "is_packed_batching"))
    x = node.need(0)
    rank = need_rank_of(x, 3, 4)
    form = _form(node, x)
    data = wide(build, x)
    if rank == 3:
        data = build.Reshape(data, np.array([0, 0, form.heads, form.head]))
    cos, sin = _looked_up(node, build, x)
    interleaved = bool(node.attr("interleaved", 0))
    result = turned(build, data, (cos, sin), (form.turned, form.head), interleaved=interleaved)
    if rank == 3:
        result = build.Reshape(result, np.array([0, 0, form.heads * form.head]))
    return like(build, x, result)


def _looked_up(node: NodeView, build: Builder, x: Value) -> list[Value]:
    """Return cosines and sines, broadcastable to the input by heads."""
    positions, by_heads = node.need(1), x.rank == 4
    if need_rank_of(positions, 1, 2) == 1:
        # One number: the position of the first token.
        length = size(build, x, 2 if by_heads else 1)
        positions = build.Unsqueeze(build.Add(numbered(build, length), positions), axes=[0])
    tables = (build.Gather(wide(build, node.need(place)), positions, axis=0) for place in (2, 3))
    return [build.Unsqueeze(table, axes=[1 if by_heads else 2]) for table in tables]
