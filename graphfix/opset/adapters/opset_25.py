"""Between opset 25 and 24.

References: Attention-25 and -24 in onnx/defs/nn.
"""

from __future__ import annotations

from graphfix.authoring import Builder, NodeView
from graphfix.opset.adapting import KEEP, Adapted, adapter


@adapter("Attention", 24, 25)
def attention_up(node: NodeView, build: Builder) -> Adapted:
    """Windows are new, and -1, the default, leaves either side open."""
    return KEEP
