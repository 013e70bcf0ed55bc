"""Vectors, which OpenCV 4 takes for columns where they are inputs of the graph."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.opencv.rules.importing import is_computed_at_import, is_known_at_import
from graphfix.engines.operands import is_stored
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView, Value

_DEEPEST = 40


@rule(
    feature="rank:{op}.1",
    versions="..opencv4.10",
    severity=WRONG,
    source="measured on 4.8.1 and 4.10.0: an input [5] - constant [5] gives [5,5], as an input is a"
    " column; a row that Gather takes, times 2, is [1,4]; [4,3] + Identity of a constant [3], and"
    " an input [3], is refused, as [3,1] does not fit, and [3,3] + that is wrong",
)
def vector_with_another(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 reads a vector input as a column, a computed one as a row."""
    if node.op not in _BROADCASTING or len(node.inputs) < 2 or is_computed_at_import(node):
        return False
    values = [value for value in node.inputs if value is not None]
    ranks = [value.rank for value in values]
    if 1 not in ranks:
        return False
    if None in ranks:
        return Unknown("the rank of an operand")
    vectors = [value for value in values if value.rank == 1]
    if all(value.static_shape == (1,) for value in vectors):
        return False
    computed = {_is_column(value) for value in vectors if not is_stored(value)}
    others = {value.rank for value in values if not is_stored(value)}
    if not computed:
        wrong = len(others) > 1
    elif len(vectors) == len(values) and not any(is_stored(value) for value in values):
        wrong = len(computed) > 1
    elif computed == {True}:  # a single constant number next to a column is right
        wrong = others != {1} or any(is_stored(v) and v.rank != 0 for v in values)
    else:
        wrong = True
    severity = REJECT if any(_is_refused(one, values) for one in vectors) else WRONG
    return wrong and Yes(severity=severity)


def _is_refused(vector: Value, values: list[Value]) -> bool:
    """Say whether a vector that is a column fits one of the others no more."""
    size = vector.dim(0)
    if is_stored(vector) or not isinstance(size, int) or size == 1 or not _is_column(vector):
        return False
    matrices = [value for value in values if (value.rank or 0) >= 2]
    heights = [matrix.dim((matrix.rank or 0) - 2) for matrix in matrices]
    return any(isinstance(height, int) and height not in (1, size) for height in heights)


def _is_column(value: Value) -> bool:
    """Say whether a vector is the output of one that is an input of the graph or a constant."""
    for _ in range(_DEEPEST):
        maker = value.producer
        if maker is None:
            return True
        source = maker.input(0)
        if source is None or source.rank != 1:
            return False
        value = source
    return False


_BROADCASTING = frozenset({
    "Add", "And", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Mean",
    "Min", "Mod", "Mul", "Or", "Pow", "Sub", "Sum", "Where", "Xor",
})  # fmt: skip


@rule(
    ("Add", "Div", "Equal", "Greater", "Less", "Max", "Min", "Mod", "Mul", "Pow", "Sub", "Sum"),
    feature="rank:{op}.1",
    versions="..opencv4.10",
    severity=WRONG,
    text="shape[i] == 1 || outShape[i] == 1 in function 'findCommonShape'",
    source="nary_eltwise_layers.cpp:321 (4.10.0); measured on 4.10.0: a constant [3,1] + [3] is"
    " wrong, and [2,1] + [3] refused, as [3] is a column where it is stored or computed by most;"
    " what Gather takes by a vector, Shape, ConstantOfShape and Tile are right",
)
def known_vector_with_another(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 reads a vector known at import as a column when it meets a matrix."""
    if not is_computed_at_import(node):
        return False
    values = [value for value in node.inputs if value is not None]
    matrices = [value.static_shape for value in values if (value.rank or 0) >= _MATRIX]
    columns = [value for value in values if value.rank == 1 and _is_known_column(value)]
    sizes = {value.dim(0) for value in columns} - {1}
    if not matrices or not sizes or None in matrices:
        return False
    heights = {shape[-2] for shape in matrices if shape is not None} - {1}
    return Yes(severity=WRONG if heights <= sizes else REJECT)


def _is_known_column(value: Value) -> bool:
    """Say whether a vector that the importer knows is a column to it."""
    maker = value.producer
    if is_stored(value) or maker is None or maker.op in _COLUMNS_OF_ANY:
        return True
    if maker.op == "Cast":
        return _is_known_column(maker.need(0))
    return maker.op == "Gather" and maker.need(1).rank == 0


_MATRIX = 2  # the rank
# What the importer was seen to make columns of.
_COLUMNS_OF_ANY = frozenset({
    "Add", "Concat", "Expand", "Identity", "Mul", "Reshape", "Slice", "Transpose", "Where",
})  # fmt: skip


_PLANE = 2  # the rank


@rule(
    "Gather",
    feature="rank:Gather.1",
    versions="..opencv4.10",
    severity=WRONG,
    source="measured on 4.10.0: an input [3] of indices gives [3,1,2] for [3,2], and a single index"
    " that is an input [1,1,2]",
)
def gather_by_vector(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 reads Gather indices that are a vector or a scalar input as a column."""
    indices = node.input(1)
    if indices is None or is_known_at_import(indices):
        return False
    return indices.rank == 1 or (indices.rank == 0 and _is_column(indices))


@rule(
    "Gather",
    feature="rank:Gather.0",
    versions="..opencv4.10",
    severity=WRONG,
    source="measured on 4.10.0: indices [3,4] of a stored vector give [3,4,1], with which nothing"
    " of [3,4] is added; of a matrix they are right, and so is what a Reshape follows",
)
def gather_of_vector(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 keeps the second axis that it gives a vector, so Gather of one has an axis more."""
    data, indices, result = node.input(0), node.input(1), node.output(0)
    if data is None or indices is None or result is None or is_known_at_import(indices):
        return False
    if data.rank != 1 or indices.rank is None or indices.rank < _PLANE:
        return False
    readers = result.consumers
    return result.is_graph_output or not all(reader.op == "Reshape" for reader in readers)
