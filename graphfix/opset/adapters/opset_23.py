"""Between opset 23 and 22.

References: DequantizeLinear-23 and -21, RMSNormalization-23 in onnx/defs.
"""

from __future__ import annotations

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, need_elem_type, need_rank, respell
from graphfix.opset.adapting import Adapted, adapter


@adapter("DequantizeLinear", 23, 22)
def dequantize_down(node: NodeView, build: Builder) -> Adapted:
    """An output_dtype that the scale gives anyway is dropped."""
    wanted = node.attr("output_dtype", 0)
    scale = node.need(1)
    if need_elem_type(scale) == TensorProto.FLOAT8E8M0:
        raise Refuse("opset 22 takes no scale of float8e8m0")
    if wanted not in (0, scale.elem_type):
        raise Refuse("output_dtype must be that of the scale; it differs")
    return respell(node, build, drop=("output_dtype",))


@adapter("RMSNormalization", 23, 22)
def rms_normalization_down(node: NodeView, build: Builder) -> Adapted:
    """Divide by the root of the mean square over the last axes, in the precision of stash_type."""
    x, scale = node.need(0), node.need(1)
    kind = need_elem_type(x)
    rank = need_rank(x)
    first = node.attr("axis", -1)
    axes = list(range(first - rank if first >= 0 else first, 0))
    stash = node.attr("stash_type", TensorProto.FLOAT)
    wide = x if kind == stash else build.Cast(x, to=stash)
    mean = build.ReduceMean(build.Mul(wide, wide), axes=axes, keepdims=1)
    root = build.Sqrt(build.Add(mean, float(node.attr("epsilon", 1e-5))))
    normal = build.Div(wide, root)
    if kind != stash:
        normal = build.Cast(normal, to=kind)
    return build.Mul(normal, scale)
