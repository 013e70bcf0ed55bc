"""TFLite: scatters, and what they do with several updates to one place."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.analysis.memo import kept_stepwise, operands
from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, rule
from graphfix.engines.tflite.rules import MEASURED
from graphfix.ir.views import Array, NodeView, Value
from graphfix.operators.table import ELEMENTWISE

_ASKED = f"{MEASURED}: facts/asked.json"
_SCATTERS = ("ScatterElements", "ScatterND")
_LINES = 3  # the rank
# What hands on numbers that are fed, so that they are as often the same as they were.
_HANDING = ELEMENTWISE | {
    "Cast",
    "Concat",
    "Expand",
    "Gather",
    "Identity",
    "Reshape",
    "Slice",
    "Squeeze",
    "Tile",
    "Transpose",
    "Unsqueeze",
    "Where",
}


@rule(
    _SCATTERS,
    feature="op:{op}",
    severity=WRONG,
    source=f"{_ASKED}, scatter-elements and scatter-twice: tensor_scatter_nd_update becomes a"
    " SCATTER_ND of LiteRT, which adds up; onnxruntime keeps the last",
)
def updates_of_one_place(node: NodeView, target: Target) -> Answer:
    """LiteRT adds up duplicate updates of {op}; onnxruntime keeps the last one."""
    if node.attr("reduction", "none") != "none":
        return None
    data, indices = node.input(0), node.input(1)
    if data is None or indices is None:
        return None
    array = indices.array()
    if array is None:
        fed = not known_with_sizes(indices) and _depends_on_inputs(indices)
        return Unknown(f"whether places of {indices.name} are the same") if fed else None
    rows: Array
    if node.op == "ScatterND":
        rows = array.reshape(-1, array.shape[-1])
        sizes = (data.shape or ())[: rows.shape[1]]
    else:
        axis = int(node.attr("axis", 0)) % array.ndim
        everywhere = np.arange(array.size, dtype=np.int64)
        rows = np.stack(np.unravel_index(everywhere, array.shape), axis=1)
        rows[:, axis] = array.reshape(-1)
        sizes = data.shape or ()
    known = [size if isinstance(size, int) else 0 for size in sizes]
    if len(known) == rows.shape[1]:
        rows = np.where(rows < 0, rows + np.asarray(known, dtype=np.int64), rows)
    return len(np.unique(rows, axis=0)) < len(rows)


@rule(
    "ScatterND",
    feature="op:ScatterND",
    severity=REJECT,
    text="Dimensions [0,2) of indices must match dimensions [0,2) of updates",
    source=f"{_ASKED}, scatter-joined: what Concat gives is taken to have its channels last",
)
def places_joined_of_ones(node: NodeView, target: Target) -> Answer:
    """onnx2tf misreads ScatterND indices that are joined along the last of three axes."""
    indices = node.input(1)
    maker = None if indices is None else indices.producer
    if indices is None or maker is None or maker.op != "Concat" or known_with_sizes(indices):
        return None
    shapes = [value.static_shape for value in maker.inputs if value is not None]
    last = int(maker.attr("axis", 0)) in (-1, _LINES - 1)
    return last and all(shape == (1,) * _LINES for shape in shapes)


@kept_stepwise(in_a_loop=False)
def _depends_on_inputs(indices: Value) -> Generator[Value, bool, bool]:
    """Say whether indices are numbers that are fed to the graph, moved and computed with."""
    maker = indices.producer
    if maker is None or maker.op not in _HANDING:
        return maker is None and not indices.is_constant
    given = operands(maker)
    moved = given[:1] if maker.op in ("Reshape", "Expand", "Slice", "Tile") else given
    for operand in given[1:] if maker.op == "Gather" else moved:
        if (yield operand):
            return True
    return False
