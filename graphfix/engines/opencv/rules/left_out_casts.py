"""Casts that OpenCV 5 leaves out, and what the numbers then meet.

Its ``GatherCastSubgraph`` takes a Gather at the place of a Constant node, and the Cast behind it,
for the Gather alone. What is gathered keeps its element type, where ONNX has another one.
"""

from __future__ import annotations

from graphfix.authoring.views import NodeView, Value
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, rule
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
    """A number that Gather takes at a Constant keeps its type, and its Cast is left out."""
    if node.op in _OF_ANY:
        return False
    row = OPERATORS.get(node.op)
    places = range(len(node.inputs)) if row is None else row.data_places(len(node.inputs))
    values = [value for value in map(node.input, places) if value is not None]
    lost = [value for value in values if held_type(value) != value.type_name]
    if not lost:
        return False
    if node.op == "Pow":  # a single number as the exponent makes a layer that takes integers
        exponent = node.need(1)
        return values[0] in lost and not (exponent.rank == 0 and exponent.array() is not None)
    if len(values) > 1:
        return len({held_type(value) for value in values}) > 1
    return lost[0].type_name.startswith("float")


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
    gather = gathered.producer
    if gather is None or gather.op != "Gather" or gathered.is_graph_output:
        return False
    place = gather.need(1).producer
    return place is not None and place.op == "Constant" and len(gathered.consumers) == 1
