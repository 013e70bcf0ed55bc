"""Add and multiply pairs of tensors with the dimensions joined that neither broadcasts alone.

What it does: Before a Reshape, where two tensors are combined element by element, neighbouring
    dimensions that both have, or one of them alone, become one.
Why engines need it: ncnn has no tensor of more than four dimensions beside a batch of 1. Relative
    positions of image transformers are sums of a row and a column, with five.
Before:
    s = Add (a, b)                      a: [18, 3, 3, 3, 1], b: [18, 3, 3, 1, 3]
    y = Reshape <[9, 2, 9, 9]> (s)
After:
    s = Add (Reshape <[162, 3, 1]> (a), Reshape <[162, 1, 3]> (b))
    y = Reshape <[9, 2, 9, 9]> (s)
When it refuses: Sizes are unknown or 0, more than four dimensions or as many as before are left,
    somebody else reads the sum, or one of the tensors has more than four dimensions and is not put
    apart by Unsqueeze or Reshape.
Accuracy: Exact: the same numbers are combined.
References: https://onnx.ai/onnx/repo-docs/Broadcasting.html
"""

from collections.abc import Sequence
from math import prod

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._blocks import made_by

_EMITS = "Add Div Mul Reshape Sub"
_MOST = 4


@rewrite("Reshape", removes="rank:Reshape.*", emits=_EMITS, since=7, claims="nan inf")
def pairs_of_fewer_dimensions(node: NodeView, build: Builder) -> Value:
    """Join dimensions, see the module."""
    value, last = node.need(0), node.output(0)
    maker = value.producer
    if maker is None or maker.op == "Reshape" or maker.op not in _EMITS.split():
        raise Refuse(f"{value.name} must be a sum or product")
    pair = made_by(value, maker.op).inputs
    whole = value.static_shape
    shapes = [None if one is None else one.static_shape for one in pair]
    if last is None or last.static_shape is None or whole is None or None in shapes or 0 in whole:
        raise Refuse("all sizes must be known, and none be 0")
    full = [[1] * (len(whole) - len(shape or ())) + list(shape or ()) for shape in shapes]
    blocks = _blocks(full)
    if not len(blocks) < len(whole) or len(blocks) > _MOST:
        raise Refuse(f"{_MOST} dimensions at most must be left; {len(blocks)} are")
    operands = [
        build.Reshape(
            _source(one),
            np.array([prod(sizes[axis] for axis in block) for block in blocks], np.int64),
        )
        for one, sizes in zip(pair, full, strict=True)
        if one is not None
    ]
    (combined,) = build.multi(maker.op, *operands, outputs=1)
    return build.Reshape(combined, np.array(last.static_shape, np.int64))


def _blocks(full: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the axes that may be joined: neighbours that the same operands broadcast."""
    blocks: list[list[int]] = []
    kinds: list[tuple[bool, ...]] = []
    for axis, sizes in enumerate(zip(*full, strict=True)):
        kind = tuple(size == 1 for size in sizes)
        if all(kind):
            continue
        if kinds and kinds[-1] == kind:
            blocks[-1].append(axis)
        else:
            blocks.append([axis])
            kinds.append(kind)
    return blocks


def _source(value: Value) -> Value:
    """Return the tensor that an operand is a Reshape of, where it has fewer dimensions itself."""
    maker = value.producer
    apart = maker is not None and not maker.domain and maker.op in ("Reshape", "Unsqueeze")
    source = maker.need(0) if maker is not None and apart else value
    if source.rank is None or source.rank > _MOST:
        raise Refuse(f"{source.name} must have {_MOST} dimensions at most; it has {source.rank}")
    return source
