"""Casts that OpenCV leaves out, and what the numbers then meet.

Its ``GatherCastSubgraph`` takes a Gather at the place of a Constant node, and the Cast after it,
for the Gather alone. What is gathered keeps its element type, where ONNX has another one. OpenCV 4
forgets the axis as well.
"""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import ELEMENTWISE, OPERATORS

_DEEPEST = 20
_KEEPS = frozenset({"Identity", "Neg", "Reshape", "Squeeze", "Unsqueeze"})
_OF_ANY = frozenset({"Cast", "CastLike", "Identity", "Neg"})


@rule(
    (*sorted(ELEMENTWISE), "Concat", "Elu", "Mean", "Softplus"),
    feature="form:Constant.place-of-a-cast",
    versions="opencv5.0..",
    severity=REJECT,
    text="All inputs should have equal types",
    source="nary_eltwise_layers.cpp:433 (5.0.0); onnx_graph_simplifier.cpp, GatherCastSubgraph;"
    " facts/asked.json, gather-cast-*: not where the place is an initializer, or more than the Cast"
    " reads what is gathered",
)
def cast_left_out(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 drops the Cast after a Gather at a Constant index, so {op} gets mixed types."""
    if node.op in _OF_ANY:
        return False
    row = OPERATORS.get(node.op)
    places = range(len(node.inputs)) if row is None else row.data_places(len(node.inputs))
    values = [value for value in map(node.input, places) if value is not None]
    lost = [value for value in values if held_type(value) != value.type_name]
    if not lost:
        return False
    if node.op == "Pow":  # a single value as the exponent makes a layer that takes integers
        exponent = node.need(1)
        return values[0] in lost and not (exponent.rank == 0 and exponent.array() is not None)
    if len(values) > 1:
        return len({held_type(value) for value in values}) > 1
    return lost[0].type_name.startswith("float")


@rule(
    "Cast",
    feature="form:Constant.place-of-a-cast",
    versions="..opencv4.10",
    severity=WRONG,
    text="axis >= -dims && axis < dims",
    source="onnx_graph_simplifier.cpp, GatherCastSubgraph, which writes no axis;"
    " shape_utils.hpp:243 (4.10.0) where the place is after the first axis; measured on 4.8.1"
    " and 4.10.0: along the first axis, at an initializer, and where more than one node reads it,"
    " it is right",
)
def axis_left_out(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 gathers along axis 0 if a Cast alone reads a Gather at a Constant index."""
    gathered = node.input(0)
    gather = _gather_at_constant(gathered)
    if gathered is None or gather is None or len(gathered.consumers) != 1:
        return False
    if gathered.is_graph_output:
        return Yes(
            message=f"OpenCV merges the Gather that computes {gathered.name} with its Cast",
            severity=REJECT,
        )
    data, axis = gather.need(0), int(gather.attr("axis", 0))
    if axis < 0 and data.rank is None:
        return Unknown(f"rank of {data.name}")
    if axis in (0, -(data.rank or 0)):
        return False
    places, size = gather.need(1).array(), data.dim(0)
    after = isinstance(size, int) and places is not None and bool((places >= size).any())
    return Yes(
        message=f"OpenCV gathers along axis 0 before this Cast; ONNX along {axis}",
        severity=REJECT if after else WRONG,
    )


def held_type(value: Value, depth: int = _DEEPEST) -> str:
    """Return the element type that a tensor has to OpenCV 5.

    Args:
        value: The tensor.
        depth: How many nodes are followed upwards.
    """
    node = value.producer
    if node is None or not depth or node.domain or not node.inputs:
        return value.type_name
    source = node.input(0)
    if source is None:
        return value.type_name
    if node.op == "Cast":
        same = source.type_name == value.type_name
        return held_type(source, depth - 1) if same or _is_left_out(source) else value.type_name
    if node.op == "Pow" or (node.op not in _KEEPS and node.op not in ELEMENTWISE):
        return value.type_name
    if source.type_name != value.type_name:
        return value.type_name
    return held_type(source, depth - 1)


def _is_left_out(gathered: Value) -> bool:
    """Say whether a Cast of this is taken for a part of the Gather."""
    alone = not gathered.is_graph_output and len(gathered.consumers) == 1
    return alone and _gather_at_constant(gathered) is not None


def _gather_at_constant(gathered: Value | None) -> NodeView | None:
    """Return the Gather that gives this, where it takes at a Constant."""
    gather = None if gathered is None else gathered.producer
    if gather is None or gather.op != "Gather":
        return None
    place = gather.need(1).producer
    return gather if place is not None and place.op == "Constant" else None
