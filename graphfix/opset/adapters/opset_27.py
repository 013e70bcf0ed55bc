"""Between opset 27 and 26.

References: Range-27 and -11 in onnx/defs/generator.
"""

from __future__ import annotations

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, need_elem_type, respell
from graphfix.opset.adapting import Adapted, adapter

_HALVES = (TensorProto.FLOAT16, TensorProto.BFLOAT16)


@adapter("Range", 27, 26)
def range_down(node: NodeView, build: Builder) -> Adapted:
    """The narrow floats are new: numbers are drawn in float32, as stash_type says, and rounded."""
    kind = need_elem_type(node.need(0))
    if kind not in _HALVES:
        return respell(node, build, drop=("stash_type",))
    if node.attr("stash_type", TensorProto.FLOAT) != TensorProto.FLOAT:
        raise Refuse("stash_type must be float32; it is not")
    wide = [build.Cast(node.need(at), to=TensorProto.FLOAT) for at in range(3)]
    return build.Cast(build.Range(*wide), to=kind)
