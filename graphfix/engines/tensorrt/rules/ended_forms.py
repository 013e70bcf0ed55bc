"""Forms of opsets below 7, which the parser reads as if they were later ones."""

from __future__ import annotations

from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, rule
from graphfix.ir.views import NodeView

_ENDED = {"Cast": 6, "Concat": 4, "LpPool": 2, "Pad": 2, "Tile": 6, "Upsample": 7}


@rule(
    (*_ENDED,),
    feature="opset:too-low",
    versions="trt7.0..",
    severity=REJECT,
    text="Attribute not found",
    source="builtin_op_importers.cpp:291, 549, 2831, 3266, 4825, 5106 (8.6.1): the attributes and "
    "inputs of the later form are read without a default",
)
def ended_form(node: NodeView, target: Target) -> Answer:
    """TensorRT reads {op} of opset 7 or later only; this older form has other attributes."""
    if not 0 < node.opset < _ENDED[node.op]:
        return None
    if node.op == "Cast":
        return isinstance(node.attr("to"), str)
    if node.op == "Concat":
        return node.attr("axis") is None
    if node.op == "LpPool":
        return node.attr("p") is not None
    return True


@rule(
    ("Split", "GlobalLpPool"),
    feature="opset:too-low",
    versions="trt7.0..",
    severity=WRONG,
    source="builtin_op_importers.cpp:4660 and 1684 (8.6.1): sizes are read from an input from "
    "opset 13 on alone, and the exponent as an integer",
)
def ended_form_misread(node: NodeView, target: Target) -> Answer:
    """TensorRT reads {op} of opset 1 as that of a later opset and ignores its inputs."""
    if node.opset != 1:
        return None
    return node.input(1) is not None if node.op == "Split" else node.attr("p") is not None
