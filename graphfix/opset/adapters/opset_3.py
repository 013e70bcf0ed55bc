"""From opset 2 to 3.

References: GRU-1 and GRU-3 in onnx/defs/rnn/old.cc.
"""

from __future__ import annotations

from graphfix.authoring import Builder, NodeView, respell
from graphfix.opset.adapting import Adapted, adapter


@adapter("GRU", 2, 3)
def gru_up(node: NodeView, build: Builder) -> Adapted:
    """The default of the direction was misspelt; the reset still comes before the product."""
    return respell(node, build, direction=node.attr("direction", "forward"))
