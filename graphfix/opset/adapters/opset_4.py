"""From opset 3 to 4.

References: Concat-1 in onnx/defs/tensor/old.cc: "Which axis to concat on. Default value is 1."
"""

from __future__ import annotations

from graphfix.authoring import Builder, NodeView, respell
from graphfix.opset.adapting import Adapted, adapter


@adapter("Concat", 3, 4)
def concat_up(node: NodeView, build: Builder) -> Adapted:
    """The axis had a default."""
    return respell(node, build, axis=node.attr("axis", 1))
