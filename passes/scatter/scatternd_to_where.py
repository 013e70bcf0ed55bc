"""Replace ScatterND with constant indices by Where.

What it does:
A constant mask says which places are written, a constant map which update goes there; Gather
spreads the updates over the shape of the data, and Where chooses. A single update needs no Gather:
it is broadcast. A ``reduction`` combines the spread updates with the data first; several updates
to one place take several rounds. Bools and narrow integers are moved as int32, for few engines
have a Where or Gather of those.
Why engines need it:
TensorRT has no scatter up to 7.2, and ScatterND only as a plugin in 8.0; up to 9.3 it ignores the
``reduction``.
Before: y = ScatterND (x, [[4], [0], [2]], updates)
After:
    u = Gather (updates, [1, 0, 2, 0, 0, 0])
    y = Where ([[true], [false], [true], [false], [true], [false]], u, x)
When it refuses:
Indices computed at run time, out of range, or twice the same without a ``reduction`` (ONNX does
not say which write stays), or more than eight times with one; a ``reduction`` of bools or narrow
integers; unknown rank of the data, or unknown sizes of the axes that the indices name; a mask of
more than ``max_elements``.
Accuracy:
Exact: values are moved, and with a ``reduction`` combined one update after the other, in their
order. NaN under max and min is what the operators Max and Min make of it.

References:
https://onnx.ai/onnx/operators/onnx__ScatterND.html; NVIDIA/TensorRT issues 805, 1350, 1457, 3462;
onnx/onnx-tensorrt 7.x builtin_op_importers.cpp (no importer).
"""

import math

import numpy as np

from graphfix.authoring import Builder, NodeView, Option, Value, reshaping, rewrite

from ._indices import (
    fixed,
    known_shape,
    linear,
    narrowed,
    reduction_of,
    regrouped,
    rows_of,
    widened,
)
from ._masking import MAX_ELEMENTS, broadcast_write, masked_write, refuse_large


@rewrite(
    "ScatterND",
    removes="op:ScatterND attr:ScatterND.reduction* dtype:ScatterND.* shape:ScatterND.*",
    emits=(reshaping.EMITS, "Add Cast Concat Gather Max Min Mul Shape Slice"),
    since=11,
    options={"max_elements": Option(int, MAX_ELEMENTS, "Largest mask to put into the model.")},
)
def scatternd_to_where(node: NodeView, build: Builder) -> Value:
    """Return the data where the mask is false, the updates where it is true."""
    data = node.need(0)
    dims = known_shape(data)
    rows = rows_of(build.need_const(node.need(1), "the index"), dims)
    count, depth = rows.shape
    named = fixed(dims[:depth], "data")
    refuse_large(math.prod(named), int(build.option("max_elements")))
    positions = linear(rows, named)
    reduction = reduction_of(node)
    wide, updates = widened(build, data, node.need(2), reduction)
    if count == 1:
        mask = np.zeros(math.prod(named), dtype=np.bool_)
        mask[positions] = True
        shape = (*named, *[1] * (len(dims) - depth))
        update = regrouped(build, updates, [1] * depth, wide, depth)
        written = broadcast_write(build, wide, update, mask.reshape(shape), reduction)
        return narrowed(build, written, data)
    listed = regrouped(build, updates, [count], wide, depth)
    written = masked_write(
        build, wide, listed, positions, sizes=named, first=0, update_axis=0, reduction=reduction
    )
    return narrowed(build, written, data)
