"""Replace ScatterND by ScatterElements on flattened data.

What it does:
The axes that the index tuples count along are flattened into one, the others into another:
``data`` becomes [P, L], the tuples one number each, spread over L columns, ``updates`` [n, L].
Constant tuples are computed here; others as a sum of their columns, each times its stride, after
the size of its axis is added to each negative one (the first axis needs that in neither case: a
negative tuple stays one). ``reduction`` is carried over; ``none`` is not written.
Why engines need it:
TensorRT 10.0 to 10.8 refuses ScatterND with the attribute ``reduction``, whatever its value, and
newer ones any but ``none``; ScatterElements takes it from 10.0 on. Other engines lack ScatterND
altogether.
Before: y = ScatterND <reduction = "add"> (data, indices, updates)
After:
    flat = Reshape (data, [-1, L])
    rows = Reshape (updates, [-1, L])
    written = ScatterElements <axis = 0, reduction = "add"> (flat, positions, rows)
    y = Reshape (written, shape)
When it refuses:
Unknown rank of the data, unknown number of axes that the tuples name, unknown sizes where they
are needed; constant indices out of range, or twice the same one without ``reduction`` (ONNX does
not say which write stays); data without elements.
Accuracy: Exact. Several updates to one element are combined in the engine's order, as before.

References:
https://onnx.ai/onnx/operators/onnx__ScatterND.html, onnx__ScatterElements.html;
onnx/onnx-tensorrt 10.0 onnxOpCheckers.cpp (checkScatterND); NVIDIA/TensorRT issues 3462, 3464.
"""

import math

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, needed, reshaping, rewrite

from ._indices import Array, fixed, known_shape, reduction_of, regrouped, rows_of, strides


@rewrite(
    "ScatterND",
    removes="op:ScatterND attr:ScatterND.reduction*",
    emits=(reshaping.EMITS, "Add Concat Less Mul ScatterElements Shape Slice Squeeze"),
    since=11,
)
def scatternd_to_scatterelements(node: NodeView, build: Builder) -> Value:
    """Return the data with the updates written by ScatterElements."""
    data, indices, updates = node.need(0), node.need(1), node.need(2)
    dims = known_shape(data)
    depth = needed(indices.dim(-1), "the number of axes that the indices name must be known")
    if not 1 <= depth <= len(dims):
        raise Refuse("the indices must fit the rank of the data; they do not")
    inner = fixed(dims[1:depth], "data")
    rest = fixed(dims[depth:], "data")
    columns = (math.prod(rest),) if rest else ()
    if 0 in inner or 0 in rest:
        raise Refuse("the data must have elements; it has none")
    reduction = reduction_of(node)
    known = build.const(indices)
    positions: Value | Array
    if known is None:
        positions = _computed(build, indices, inner, columns)
    else:
        rows = rows_of(known, dims)
        if reduction == "none" and len(np.unique(rows, axis=0)) != len(rows):
            raise Refuse(
                "each place must be written once; one is written twice, and ONNX does not say "
                "which write stays"
            )
        lines = (rows @ strides((1, *inner))).reshape(-1, *[1] * len(columns))
        positions = np.broadcast_to(lines, (len(rows), *columns)).copy()
    flat = _flattened(build, data, columns)
    listed = _flattened(build, updates, columns)
    written = build.ScatterElements(
        flat, positions, listed, axis=0, reduction=None if reduction == "none" else reduction
    )
    return regrouped(build, written, (), data, 0)


def _flattened(build: Builder, value: Value, columns: tuple[int, ...]) -> Value:
    shape = value.shape
    if shape is not None and len(shape) == len(columns) + 1 and tuple(shape[1:]) == columns:
        return value
    return build.Reshape(value, [-1, *columns])


def _computed(
    build: Builder, indices: Value, inner: tuple[int, ...], columns: tuple[int, ...]
) -> Value:
    """Emit the positions [n, columns] of index tuples that are computed at run time."""
    if not inner:
        tuples = build.Reshape(indices, [-1, *[1] * len(columns)])
    else:
        tuples = _flattened(build, indices, (len(inner) + 1,))
        negative = build.Less(tuples, np.zeros((), dtype=np.int64))
        wrapped = build.Add(tuples, np.array([0, *inner], dtype=np.int64))
        tuples = build.Where(negative, wrapped, tuples)
        tuples = _summed(build, tuples, strides((1, *inner)))
        if not columns:
            tuples = build.Squeeze(tuples, axes=[1])
    return tuples if columns in ((), (1,)) else build.Expand(tuples, [1, *columns])


def _summed(build: Builder, tuples: Value, steps: Array) -> Value:
    """Return the sum of the columns of [n, k], each times its step, as [n, 1]."""
    total: Value | None = None
    for place, step in enumerate(steps.tolist()):
        column = build.Slice(tuples, starts=[place], ends=[place + 1], axes=[1])
        term = column if step == 1 else build.Mul(column, np.array([step], dtype=np.int64))
        total = term if total is None else build.Add(total, term)
    assert total is not None
    return total
