"""From opset 4 to 5.

References: Reshape-1 and Reshape-5 in onnx/defs/tensor (old.cc).
"""

from __future__ import annotations

from graphfix.authoring import Builder, NodeView, Refuse
from graphfix.opset.adapting import Adapted, adapter


@adapter("Reshape", 4, 5)
def reshape_up(node: NodeView, build: Builder) -> Adapted:
    """The shape became an input."""
    shape = node.attr("shape")
    if shape is None:
        raise Refuse("Reshape of an opset below 5 says no shape")
    return build.Reshape(node.need(0), list(shape))
