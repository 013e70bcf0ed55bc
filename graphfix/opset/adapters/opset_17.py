"""Between opset 17 and 16.

References: LayerNormalization-17 in onnx/defs/nn (stages one and two of its description).
"""

from __future__ import annotations

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Value, need_elem_type, need_rank
from graphfix.opset.adapting import Adapted, adapter


@adapter("LayerNormalization", 17, 16)
def layer_normalization_down(node: NodeView, build: Builder) -> Adapted:
    """Subtract the mean and divide by the deviation over the last axes.

    The variance is the mean of the squared differences; the schema's own body subtracts the
    squared mean from the mean square, which loses all digits where the mean is large.
    """
    x, scale, bias = node.need(0), node.need(1), node.input(2)
    kind = need_elem_type(x)
    first = node.attr("axis", -1)
    axes = list(range(first - need_rank(x) if first >= 0 else first, 0))
    stash = node.attr("stash_type", TensorProto.FLOAT)
    # The schema reduces in the precision of stash_type; float64 would lose digits and stays.
    wider = stash if kind != TensorProto.DOUBLE else kind
    wide = x if kind == wider else build.Cast(x, to=wider)
    mean = build.ReduceMean(wide, axes=axes, keepdims=1)
    centred = build.Sub(wide, mean)
    variance = build.ReduceMean(build.Mul(centred, centred), axes=axes, keepdims=1)
    deviation = build.Sqrt(build.Add(variance, float(node.attr("epsilon", 1e-5))))
    normal = build.Div(centred, deviation)
    if kind != wider:
        normal = build.Cast(normal, to=kind)
    result = build.Mul(normal, scale)
    if bias is not None:
        result = build.Add(result, bias)
    outputs: list[Value | None] = [result]
    if len(node.outputs) > 1:
        outputs.append(_stashed(mean, stash, build) if node.output(1) is not None else None)
    if len(node.outputs) > 2:
        inverse = build.Reciprocal(deviation)
        outputs.append(_stashed(inverse, stash, build) if node.output(2) is not None else None)
    return tuple(outputs)


def _stashed(value: Value, stash: int, build: Builder) -> Value:
    return value if value.elem_type == stash else build.Cast(value, to=stash)
