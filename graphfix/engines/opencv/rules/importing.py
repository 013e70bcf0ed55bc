"""What the importer of OpenCV computes itself: all that depends on constants and fixed sizes."""

from __future__ import annotations

from graphfix.engines.common_rules import undeclared_outputs
from graphfix.engines.operands import is_stored
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, model_rule, rule
from graphfix.engines.rule_makers import wants_nodes_in_order
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import REDUCTIONS

_DEEPEST = 40


def is_known_at_import(value: Value | None, depth: int = _DEEPEST) -> bool:
    """Say whether a tensor depends on constants and on shapes with fixed sizes alone.

    Args:
        value: The tensor; None for an input that is left out.
        depth: How many nodes are followed upwards.
    """
    if value is None or is_stored(value):
        return True
    maker = value.producer
    if maker is None or not depth:
        return False
    if maker.op in ("Shape", "Size"):
        source = maker.input(0)
        return source is not None and source.static_shape is not None
    return all(is_known_at_import(operand, depth - 1) for operand in maker.inputs)


def is_computed_at_import(node: NodeView) -> bool:
    """Say whether all inputs of a node are known when the importer reads it."""
    return all(is_known_at_import(value) for value in node.inputs)


# Operator -> the inputs that its parser takes from constants alone, by their places.
_CONSTANTS = {
    "BatchNormalization": {1: "scale", 2: "B", 3: "mean", 4: "var"},
    "Clip": {1: "min", 2: "max"},
    "ConstantOfShape": {0: "input"},
    "ConvTranspose": {1: "W"},
    "CumSum": {1: "axis"},
    "Expand": {1: "shape"},
    "Pad": {1: "pads"},
    "Range": {0: "start", 1: "limit", 2: "delta"},
    "Reshape": {1: "shape"},
    "Resize": {2: "scales", 3: "sizes"},
    "Slice": {1: "starts", 2: "ends", 3: "axes", 4: "steps"},
    "Split": {1: "split"},
    "Squeeze": {1: "axes"},
    "Tile": {1: "repeats"},
    "Unsqueeze": {1: "axes"},
    "Upsample": {1: "scales"},
}


@model_rule(
    feature="io:undeclared-output",
    versions="opencv5.0..",
    severity=REJECT,
    text="valueInfoProto.has_type() in function 'parseValueInfo'",
    source="onnx_importer2.cpp:741 (5.0.0); measured",
)
def output_undeclared(model: Model, target: Target) -> list[Answer]:
    """OpenCV requires a declared element type for each graph output."""
    return undeclared_outputs(model)


@rule(
    tuple(_CONSTANTS),
    feature="const:{op}.*",
    versions="..opencv4.10",
    severity=REJECT,
    text="not found in const blobs in function 'getBlob'",
    source="onnx_importer.cpp:598 (4.10.0) and the parser of each; measured on 4.10.0",
)
def computed_operand(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 requires parameters of {op} to be constant."""
    for index, name in _CONSTANTS[node.op].items():
        if not is_known_at_import(node.input(index)):
            return Yes(
                feature=f"const:{node.op}.{name}",
                message=f"OpenCV 4 requires a constant {name} of {node.op}",
            )
    return False


@rule(
    REDUCTIONS,
    feature="const:{op}.axes",
    versions="..opencv4.10",
    severity=WRONG,
    source="measured on 4.10.0: ReduceSum by an input [1] of axes reduces all of them",
)
def computed_axes(node: NodeView, target: Target) -> Answer:
    """OpenCV 4 ignores computed axes of {op} and reduces all of them."""
    return not is_known_at_import(node.input(1))


UNSORTED = wants_nodes_in_order(
    versions="opencv5.0..",
    text="unknown input of node; inputs.size() in function 'getMemoryShapes'",
    source="onnx_importer2.cpp:1043 and layer.cpp:255 (5.0.0): neither of its two importers takes"
    " what is computed further on; facts/asked.json, unsorted",
)
