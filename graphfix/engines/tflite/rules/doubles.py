"""TFLite: float64, to which onnx2tf casts no float32: its Cast leaves them as they are."""

from __future__ import annotations

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, Yes, model_rule
from graphfix.engines.tflite.rules import MEASURED
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import COMPARISONS

_DOUBLE = "float64"
_CONVERTING = frozenset({"Div", "Mul"}) | COMPARISONS  # constants, to the type of the other


@model_rule(
    feature="dtype:{op}.float64",
    severity=REJECT,
    text="Op has type float64 that does not match type float32 of argument 'x'",
    source=f"{MEASURED}: facts/graphs.json; Mul, Div and comparisons take constants",
)
def floats_left_beside_doubles(model: Model, target: Target) -> list[Answer]:
    """onnx2tf drops a Cast from float32 to float64, so {op} gets both types."""
    left: set[int] = set()
    found: list[Answer] = []
    for node in map(NodeView, model.graph.nodes):
        given = [value for value in node.inputs if value is not None]
        doubles = [value for value in given if value.type_name == _DOUBLE]
        adjacent = [value for value in doubles if id(value.tensor) not in left]
        if node.op == "Cast":
            stays = bool(given) and (
                given[0].type_name == "float32" or len(adjacent) < len(doubles)
            )
        else:
            stays = len(adjacent) < len(doubles)
            if stays and adjacent and not _converts(node, adjacent):
                found.append(
                    Yes(
                        node=node,
                        message=f"onnx2tf drops the Cast to float64 before {node.op}, whose"
                        f" other operand {adjacent[0].name} is float64",
                    )
                )
        if stays:
            left |= _doubles_of(node)
    return found


def _converts(node: NodeView, adjacent: list[Value]) -> bool:
    return node.op in _CONVERTING and all(map(known_with_sizes, adjacent))


def _doubles_of(node: NodeView) -> set[int]:
    return {
        id(value.tensor)
        for value in node.outputs
        if value is not None and value.type_name == _DOUBLE
    }
