"""Replace a ScatterND whose indices are a grid by Gather and Where, one axis after the other.

What it does:
    ``x[rows, :, 2:n] = u`` is exported as one index tuple for each element of a grid: each column
    of the tuples varies along one axis only. Then it is known for each axis by itself which update
    comes last at each position, so the updates are gathered axis by axis, and a position that is
    hit along all axes takes its update. A row of zeros in front of the updates is what positions
    that nothing hits gather.
Why engines need it: TensorRT has no scatter up to 8.0. Where sizes are known at run time only,
    nothing else replaces a scatter that writes more than one row.
Before:
    y = ScatterND (x, Concat <axis = -1> (rows, columns), u)
                                    x: [A, B], rows, columns: [m, n, 1], u: [m, n]
After:
    last_k = ReduceMax <axes = [0]> (Where (Equal ([-1, index_k], positions), 0..m, 0))   # [A]
    hit = And (last_0 is not 0, last_1 is not 0)                                        # [A, B]
    y = Where (hit, Gather <axis = 1> (Gather <axis = 0> (Pad (u), last_0), last_1), x)
When it refuses: Tuples that are no grid (the n-th column must vary along the n-th axis alone; one
    list of indices always is one), a ``reduction``, an unknown rank, strings, more than 2**24 pairs
    of an index and a position along an axis of known sizes, and a list along an axis of more than
    4096 or of an unknown size: what a slot of a cache costs would not be bounded.
Accuracy: Exact: elements are moved. ONNX leaves it open which of two updates of one element stays;
    it is the last, as in onnxruntime.
References: https://onnx.ai/onnx/operators/onnx__ScatterND.html; huggingface/transformers
    src/transformers/models/llama/modeling_llama.py (_update_causal_mask)
"""

from collections.abc import Sequence

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, axes_of, rewrite

from ._indices import narrowed, reduction_of, widened
from ._matching import check_size, counted_from_start

_BY_ELEMENT = ("Add", "Cast", "Identity", "Less", "Mul", "Sub", "Where")
_DEPTH = 12
_MOST = 4096
_END = np.iinfo(np.int64).max


@rewrite(
    "ScatterND",
    removes="op:ScatterND",
    emits=(
        "Add And Cast Concat Equal Gather Less Not Pad Range ReduceMax Reshape Shape Slice Squeeze "
        "Unsqueeze Where"
    ),
    since=11,
)
def scatternd_of_grid_to_where(node: NodeView, build: Builder) -> Value:
    """Write axis by axis, see the module."""
    data, index, updates = node.need(0), node.need(1), node.need(2)
    count = index.dim(-1)
    if data.rank is None or reduction_of(node) != "none":
        raise Refuse(
            "the rank of the data must be known, without a reduction; the rank is "
            f"{data.rank or 'unknown'}, the reduction {reduction_of(node)}"
        )
    if not count or not _is_grid(index, count, build):
        raise Refuse(
            "the indices must be joined from columns, each of which varies along an axis of its "
            "own; they are not"
        )
    if count == 1 and (data.dim(0) or _MOST + 1) > _MOST:
        raise Refuse(
            f"one list of indices must count along an axis of at most {_MOST}; it counts along "
            f"{data.dim(0) or 'an unknown size'}"
        )
    wide, moved = widened(build, data, updates, "none")
    rest = data.rank - count
    result = build.Pad(moved, np.array([1] * count + [0] * (rest + data.rank), np.int64))
    hit: Value | None = None
    for axis in range(count):
        last = _last(build, data, index, axis, count)
        result = build.Gather(result, last, axis=axis)
        here = build.Not(build.Equal(last, np.int64(0)))
        spread = [a for a in range(data.rank - axis) if a]
        here = build.Unsqueeze(here, axes=spread) if spread else here
        hit = here if hit is None else build.And(hit, here)
    assert hit is not None
    return narrowed(build, build.Where(hit, result, wide), data)


def _last(build: Builder, data: Value, index: Value, axis: int, count: int) -> Value:
    """Return for each position of an axis the number of the last index there, from 1; else 0."""
    known = data.dim(axis)
    if known is not None:
        check_size(known, index.dim(axis) or 1)
    sizes = build.Slice(build.Shape(data), starts=[axis], ends=[axis + 1], axes=[0])
    size = build.Squeeze(sizes, axes=[0])
    starts = [0] * count + [axis]
    ends = [_END if a == axis else 1 for a in range(count)] + [axis + 1]
    line = build.Slice(index, starts=starts, ends=ends, axes=list(range(count + 1)))
    line = counted_from_start(build, build.Reshape(line, [-1]), sizes)
    line = build.Concat(np.array([-1], np.int64), line, axis=0)  # hits nothing
    length = build.Squeeze(build.Shape(line), axes=[0])
    numbers = build.Unsqueeze(build.Range(np.int64(0), length, np.int64(1)), axes=[1])
    places = build.Unsqueeze(build.Range(np.int64(0), size, np.int64(1)), axes=[0])
    hits = build.Equal(build.Unsqueeze(line, axes=[1]), places)
    met = build.Where(hits, numbers, np.int64(0))
    return build.multi("ReduceMax", met, outputs=1, axes=[0], keepdims=0)[0]


def _is_grid(index: Value, count: int, build: Builder) -> bool:
    """Say whether the tuples are joined from columns of which each varies along its own axis."""
    if count == 1:
        return index.rank == 2
    joined = index.producer
    if joined is None or joined.op != "Concat" or joined.domain or index.rank != count + 1:
        return False
    columns = [column for column in joined.inputs if column is not None]
    if joined.attr("axis", 0) not in (-1, count) or len(columns) != count:
        return False
    return all(
        column.dim(-1) == 1 and _varying(column, build, _DEPTH) <= {axis - count - 1}
        for axis, column in enumerate(columns)
    )


def _varying(value: Value, build: Builder, depth: int) -> set[int]:
    """Return the axes, counted from the end, along which elements may differ."""
    if value.rank is None:
        raise Refuse(f"the rank of {value.name} must be known")
    every = {axis for axis in range(-value.rank, 0) if value.dim(axis) != 1}
    known = build.const(value)
    if known is not None and known.size:
        return {axis for axis in every if np.any(known != np.take(known, [0], axis=axis))}
    maker = value.producer
    if maker is None or maker.domain or not depth:
        return every
    if maker.op == "Expand":
        return every & _varying(maker.need(0), build, depth - 1)
    if maker.op in _BY_ELEMENT:
        read = [source for source in maker.inputs if source is not None]
        return every & set().union(*(_varying(source, build, depth - 1) for source in read))
    if maker.op == "Unsqueeze":
        added = maker.attr("axes") or axes_of(maker.input(1), "axes", build)
        if added is not None:
            return every & _shifted(_varying(maker.need(0), build, depth - 1), added, value.rank)
    return every


def _shifted(axes: set[int], added: Sequence[int], rank: int) -> set[int]:
    """Return where axes, counted from the end, come to lie when others are added."""
    new = {axis % rank for axis in added}
    kept = [axis - rank for axis in range(rank) if axis not in new]
    return {kept[axis] for axis in axes}
