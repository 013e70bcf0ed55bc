"""Vectors, which OpenCV 4 takes for columns where they are inputs of the graph."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.authoring.views import NodeView, Value
from graphfix.engines.opencv.rules.importing import is_computed_at_import, is_known_at_import
from graphfix.engines.profile import Target
from graphfix.engines.rule import WRONG, Answer, rule

_DEEPEST = 40


@rule(
    feature="rank:{op}.1",
    versions="..opencv4.10",
    severity=WRONG,
    source="measured on 4.8.1 and 4.10.0: an input [5] - constant [5] gives [5,5], as an input is a"
    " column; a row that Gather takes, times 2, is [1,4]",
)
def vector_with_another(node: NodeView, target: Target) -> Answer:
    """A vector meets another tensor: OpenCV 4 takes inputs as columns, computed ones as rows."""
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
    computed = {_is_column(value) for value in vectors if not value.is_constant}
    others = {value.rank for value in values if not value.is_constant}
    if not computed:
        wrong = len(others) > 1
    elif len(vectors) == len(values) and not any(value.is_constant for value in values):
        wrong = len(computed) > 1
    elif computed == {True}:  # a single constant number beside a column is right
        wrong = others != {1} or any(v.is_constant and v.rank != 0 for v in values)
    else:
        wrong = True
    return wrong


def _is_column(value: Value) -> bool:
    """Say whether a vector comes out of an input of the graph that is one."""
    for _ in range(_DEEPEST):
        maker = value.producer
        if maker is None:
            return not value.is_constant
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
    "Gather",
    feature="rank:Gather.1",
    versions="..opencv4.10",
    severity=WRONG,
    source="measured on 4.10.0: an input [3] of indices gives [3,1,2] for [3,2], and a single index"
    " that is an input [1,1,2]",
)
def gather_by_vector(node: NodeView, target: Target) -> Answer:
    """Indices that are a computed vector, or an input that is a single number, are a column."""
    indices = node.input(1)
    if indices is None or is_known_at_import(indices):
        return False
    return indices.rank == 1 or (indices.rank == 0 and _is_column(indices))
