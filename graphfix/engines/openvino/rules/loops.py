"""OpenVINO: what a body of Loop or Scan outputs and does not compute."""

from __future__ import annotations

from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, rule
from graphfix.ir.graph import Graph
from graphfix.ir.views import NodeView


@rule(
    ("Loop", "Scan"),
    feature="form:{op}.passed-value",
    versions="openvino2026.4..",
    severity=REJECT,
    text="Conversion is failed for: {op}",
    source="loop.cpp:310 of the ONNX frontend (2026.4.1), as its refusal says; asked of 2026.4.1: "
    "facts/asked.json, passed-values",
)
def passed_value(node: NodeView, target: Target) -> Answer:
    """OpenVINO requires a body of {op} to compute what it outputs."""
    body = node.attr("body")
    if not isinstance(body, Graph):
        return None
    made = {id(tensor) for inner in body.nodes for tensor in inner.outputs}
    stored = {id(tensor) for tensor in body.initializers}
    return any(id(tensor) not in made | stored for tensor in body.outputs)
