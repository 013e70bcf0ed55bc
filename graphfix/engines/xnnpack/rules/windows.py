"""XNNPACK: windows of poolings."""

from __future__ import annotations

from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, rule
from graphfix.ir.views import NodeView

_SOURCE = "onnxruntime/core/providers/xnnpack/nn/max_pool.cc and average_pool.cc"


@rule(
    ("AveragePool", "MaxPool"),
    feature="attr:{op}.kernel_shape",
    severity=REJECT,
    source=f"{_SOURCE}: IsMaxPoolOnnxNodeSupported, IsAveragePoolOnnxNodeSupported",
)
def window_of_one_element(node: NodeView, target: Target) -> Answer:
    """XNNPACK does not support {op} whose window is one element."""
    window = node.attr("kernel_shape", [])
    return bool(window) and all(size == 1 for size in window)
