"""Replace the reduction of ScatterND and ScatterElements by Gather, the operation, and a scatter.

What it does:
Gathers what is there, combines it with the updates (Add, Mul, Max or Min), and writes the result
without ``reduction``. Constant indices that go to the same place several times are written in
several rounds, each on what the one before left.
Why engines need it: TensorRT 8.2 to 9.3 ignores ``reduction`` and overwrites; 10.x refuses it on
    ScatterND.
Before: y = ScatterND <reduction = "add"> (x, [[3], [0]], updates)
After:
    there = Gather (x, [3, 0])
    sum = Add (there, updates)
    y = ScatterND (x, [[3], [0]], sum)
When it refuses:
Indices computed at run time, unless there is a single one (along the axis, for ScatterElements):
two may be the same. Constant indices out of range, or more than eight times the same; unknown
sizes where they are needed; bools.
Accuracy:
Exact: several updates to one place are combined one after the other, in their order. NaN under max
and min is what the operators Max and Min make of it.

References:
https://onnx.ai/onnx/operators/onnx__ScatterND.html, onnx__ScatterElements.html;
NVIDIA/TensorRT issues 3462 and 3464; onnx/onnx-tensorrt 8.6 builtin_op_importers.cpp 4401-4425.
"""

import math

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, reshaping, rewrite

from ._indices import (
    Array,
    axis_of,
    combined,
    element_positions,
    fixed,
    known_shape,
    linear,
    normalised,
    reduction_of,
    regrouped,
    rounds_of,
    rows_of,
)

_COMPUTED = "the index is computed at run time, and two may be the same"


@rewrite(
    ("ScatterND", "ScatterElements"),
    removes=tuple(
        f"attr:{op}.reduction={how}"
        for op in ("ScatterND", "ScatterElements")
        for how in ("add", "mul", "max", "min")
    ),
    emits=(
        reshaping.EMITS,
        "Add Concat Gather GatherElements GatherND Max Min Mul ScatterElements ScatterND Shape "
        "Slice",
    ),
    since=16,
)
def scatter_reduction_elimination(node: NodeView, build: Builder) -> Value:
    """Return the data with the updates combined before they are written."""
    reduction = reduction_of(node)
    if reduction == "none":
        raise Refuse("there must be a reduction; there is none")
    data, indices, updates = node.need(0), node.need(1), node.need(2)
    known = build.const(indices)
    if node.op == "ScatterND":
        if known is not None:
            return _tuples(build, data, known, updates, reduction)
        lead = None if indices.shape is None else indices.shape[:-1]
        if lead is None or any(dim != 1 for dim in lead):
            raise Refuse(_COMPUTED)
        sum_ = combined(build, reduction, build.GatherND(data, indices), updates)
        return build.ScatterND(data, indices, sum_)
    dims = known_shape(data)
    axis = axis_of(node, len(dims))
    if known is not None and not _once_each(known, axis, dims[axis]):
        return _elements(build, data, known, updates, axis, reduction)
    if known is None and indices.dim(axis) != 1:
        raise Refuse(_COMPUTED)
    there = build.GatherElements(data, indices, axis=axis)
    return build.ScatterElements(
        data, indices, combined(build, reduction, there, updates), axis=axis
    )


def _tuples(build: Builder, data: Value, indices: Array, updates: Value, reduction: str) -> Value:
    rows = rows_of(indices, known_shape(data))
    rounds = rounds_of(rows, reduction)
    lead = indices.shape[:-1]
    if len(rounds) == 1:
        there = _gathered(build, data, rows, lead)
        return build.ScatterND(data, indices, combined(build, reduction, there, updates))
    listed = regrouped(build, updates, [len(rows)], data, rows.shape[1])
    for chosen in rounds:
        update = build.Gather(listed, chosen, axis=0)
        there = _gathered(build, data, rows[chosen], (len(chosen),))
        data = build.ScatterND(data, rows[chosen], combined(build, reduction, there, update))
    return data


def _gathered(build: Builder, data: Value, rows: Array, lead: tuple[int, ...]) -> Value:
    """Emit what lies at the index tuples, in the shape of the updates."""
    depth = rows.shape[1]
    dims = known_shape(data)[:depth]
    if depth == 1:
        return build.Gather(data, rows.reshape(lead), axis=0)
    if all(isinstance(dim, int) for dim in dims):
        named = fixed(dims, "data")
        flat = regrouped(build, data, [math.prod(named)], data, depth)
        return build.Gather(flat, linear(rows, named).reshape(lead), axis=0)
    return build.GatherND(data, rows.reshape(*lead, depth))


def _once_each(indices: Array, axis: int, size: int | str | None) -> bool:
    if not indices.size:
        raise Refuse("there must be indices; there are none")
    lines = np.sort(normalised(indices, size), axis=axis)
    return bool((np.diff(lines, axis=axis) != 0).all())


def _elements(
    build: Builder, data: Value, indices: Array, updates: Value, axis: int, reduction: str
) -> Value:
    """Emit the rounds on flattened data; what a round writes has no regular shape."""
    sizes = fixed(known_shape(data), "data")
    positions = element_positions(normalised(indices, sizes[axis]), axis, sizes)
    flat = data if len(sizes) == 1 else build.Reshape(data, [-1])
    listed = updates if updates.rank == 1 else build.Reshape(updates, [-1])
    for chosen in rounds_of(positions, reduction):
        there = build.Gather(flat, positions[chosen], axis=0)
        update = build.Gather(listed, chosen, axis=0)
        flat = build.ScatterElements(
            flat, positions[chosen], combined(build, reduction, there, update), axis=0
        )
    return flat if len(sizes) == 1 else build.Reshape(flat, list(sizes))
