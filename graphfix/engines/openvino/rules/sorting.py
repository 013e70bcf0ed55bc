"""OpenVINO: the order of equal elements."""

from __future__ import annotations

from graphfix.authoring.dequantized_bytes import dequantizer_of
from graphfix.engines.profile import Target
from graphfix.engines.rule import WRONG, Answer, rule
from graphfix.ir.views import NodeView


@rule(
    "TopK",
    feature="form:TopK.ties",
    versions="openvino2026.4..",
    severity=WRONG,
    source="measured on 2026.4.1 of float32, int32 and int64, of rank 1 to 4, largest "
    "or not: the lower index is not first, and where K ends among equal ones others are taken; "
    "src/op/topk.cpp of the ONNX frontend asks for no stable one; ArgMax and ArgMin are right",
)
def equal_steps(node: NodeView, target: Target) -> Answer:
    """OpenVINO orders equal elements of TopK, as bytes have them, differently from ONNX."""
    indices, x = node.output(1), node.need(0)
    if indices is None or not (indices.is_used or indices.is_graph_output):
        return None
    return x.dim(int(node.attr("axis", -1))) != 1 and dequantizer_of(x)[0] is not None
