"""RKNN: operators of bytes beside QuantizeLinear and DequantizeLinear."""

from __future__ import annotations

from graphfix.authoring.views import NodeView
from graphfix.engines.profile import Target
from graphfix.engines.rknn.rules.toolkit import TOOLKIT
from graphfix.engines.rule import REJECT, Answer, rule

_QUANTIZING = frozenset({"DequantizeLinear", "QuantizeLinear"})


@rule(
    "QLinearMatMul",
    feature="op:QLinearMatMul",
    versions="rknn",
    severity=REJECT,
    text="Missing quantization parameters for {name}, leading to ambiguity; [TypeInferenceError]"
    " Inferred elem type differs from existing elem type",
    source=f"{TOOLKIT}: facts/graphs.json; without them it is taken, one behind another as well",
)
def product_of_bytes(node: NodeView, target: Target) -> Answer:
    """QLinearMatMul is refused in models that quantize or dequantize, be it elsewhere."""
    return any(view.op in _QUANTIZING for view in map(NodeView, node.graph.nodes))
