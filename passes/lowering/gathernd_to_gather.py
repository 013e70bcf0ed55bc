"""Replace GatherND by Gather over flattened axes.

What it does:
    The axes that the index tuples address are joined into one, and each tuple becomes the number
    of an element of it; negative entries count from the end of their axis. With tuples of one
    entry nothing is joined.

Why engines need it:
    TensorRT has an importer for GatherND from 8.2 on.

Before:
    y = GatherND (data, indices)       data: [3, 4, N], indices: [5, 2]

After:
    flat = Reshape (data)              # [12, N]
    y = Gather <axis = 0> (flat, Add (Mul (first entries, 4), second entries))

When it refuses:
    The length of the tuples or a size that they address is unknown, batch_dims is not 0 (or 1 with
    a known number of batches), data with unknown further sizes would have to be reshaped, or the
    data are strings.

Accuracy:
    Exact: elements are moved.

References:
    https://onnx.ai/onnx/operators/onnx__GatherND.html
"""

from __future__ import annotations

from math import prod

import numpy as np

from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import rewrite
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import NodeView, Value
from graphfix.report import EXACT


@rewrite(
    "GatherND",
    removes=("op:GatherND", "dtype:GatherND.*", "attr:GatherND.*", "rank:GatherND.*"),
    emits=(
        "Add",
        "Concat",
        "Gather",
        "Less",
        "Mul",
        "Reshape",
        "Shape",
        "Slice",
        "Squeeze",
        "Where",
    ),
    accuracy=EXACT,
    since=11,
)
def gathernd_to_gather(node: NodeView, build: Builder) -> Value:
    """Gather from joined axes, see the module."""
    data, indices = node.need(0), node.need(1)
    if data.rank is None or indices.rank is None or indices.rank < 1:
        raise Refuse("a rank is unknown")
    if data.type_name == "string":
        # onnxruntime's Gather takes the first string of each row alone (seen: 1.31).
        raise Refuse(f"{data.name} holds strings")
    length = indices.dim(-1)
    if not length:
        raise Refuse("the length of the index tuples is unknown")
    if int(node.attr("batch_dims", 0)):
        raise Refuse("the data comes in batches")
    if length > data.rank:
        raise Refuse("the index tuples are longer than the data has axes")
    sizes = [data.dim(axis) for axis in range(length)]
    known = build.const(indices)
    if known is not None:
        rows: Value = build.constant(_constant_rows(known, sizes))
    else:
        rows = _computed_rows(build, indices, indices.rank, sizes)
    return build.Gather(_joined(build, data, sizes), rows, axis=0)


def _constant_rows(
    known: np.ndarray[tuple[int, ...], np.dtype[np.int64]], sizes: list[int | None]
) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    rows = np.zeros(known.shape[:-1], dtype=np.int64)
    for place, size in enumerate(sizes):
        entries = known[..., place].astype(np.int64)
        if size is None and (place or (entries < 0).any()):
            raise Refuse(f"the size of axis {place} is unknown")
        if size is not None:
            entries = np.where(entries < 0, entries + size, entries)
        rows = rows * (size if place and size is not None else 1) + entries
    return rows


def _computed_rows(build: Builder, indices: Value, rank: int, sizes: list[int | None]) -> Value:
    rows: Value | None = None
    for place, size in enumerate(sizes):
        if size is None:
            raise Refuse(f"the size of axis {place} is unknown")
        entries = indices
        if len(sizes) > 1:
            entries = build.Slice(indices, starts=[place], ends=[place + 1], axes=[rank - 1])
        entries = build.Squeeze(entries, axes=[rank - 1])
        entries = build.Where(build.Less(entries, 0), build.Add(entries, size), entries)
        rows = entries if rows is None else build.Add(build.Mul(rows, size), entries)
    if rows is None:
        raise Refuse("the index tuples are empty")
    return rows


def _joined(build: Builder, data: Value, sizes: list[int | None]) -> Value:
    if len(sizes) == 1:
        return data
    rest = [data.dim(axis) for axis in range(len(sizes), data.rank or 0)]
    fixed = [size for size in sizes if size is not None]
    unknown = sum(size is None for size in rest)
    # One size may be left to Reshape; the joined one where the first axis is not known.
    if len(fixed) == len(sizes) and unknown <= 1 and 0 not in rest:
        return build.Reshape(data, [prod(fixed), *(-1 if s is None else s for s in rest)])
    if not unknown and 0 not in rest:
        return build.Reshape(data, [-1, *(s for s in rest if s is not None)])
    if len(fixed) < len(sizes):
        raise Refuse("more than one size is unknown")
    tail = build.Slice(
        build.Shape(data), starts=[len(sizes)], ends=[len(sizes) + len(rest)], axes=[0]
    )
    return build.Reshape(data, build.Concat(np.array([prod(fixed)], np.int64), tail, axis=0))
