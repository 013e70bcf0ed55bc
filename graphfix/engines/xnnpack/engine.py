"""XNNPACK as a provider of ONNX Runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphfix.engines.tables import TabledProvider

if TYPE_CHECKING:
    from graphfix.ir.views import NodeView

_ACTIVATIONS = ("Clip", "Relu")
_BEFORE_THEM = ("AveragePool", "Conv", "MaxPool")


class Xnnpack(TabledProvider):
    """The XNNPACK provider."""

    family = "xnnpack"
    title = "XNNPACK (ONNX Runtime)"
    shared = "all"
    spellings = ("ort-xnnpack",)
    provider = '"XnnpackExecutionProvider"'

    def computes_early(self, node: NodeView) -> bool:
        """Say whether a node becomes part of the one that it reads, where XNNPACK takes that.

        onnxruntime/core/providers/xnnpack/detail/node_support_checker.cc, ClipReluChecker.
        """
        if node.domain or node.op not in _ACTIVATIONS or not node.inputs:
            return False
        value, *limits = node.inputs
        maker = None if value is None else value.producer
        if value is None or maker is None or maker.domain or maker.op not in _BEFORE_THEM:
            return False
        if value.is_graph_output or len(value.consumers) > 1:
            return False
        from graphfix.engines.checking import check_node
        from graphfix.engines.targets import load_target

        said = check_node(maker, load_target(self.names()[-1]))
        constant = all(each is None or each.is_constant for each in limits)
        return constant and not any(finding.certain for finding in said)
