"""TFLite: sums of absolute values and of squares, which are ``tf.norm``, and normalizations."""

from __future__ import annotations

from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, Yes, rule
from graphfix.engines.tflite.rules import MEASURED
from graphfix.ir.views import NodeView

_MOST = 2  # axes that tf.norm takes
_LAYERS_NORMALIZED = 17  # the opset that brings LayerNormalization


@rule(
    ("ReduceL1", "ReduceL2"),
    feature="attr:{op}.axes",
    severity=REJECT,
    text="'axis' must be None, an integer, or a tuple of 2 unique integers, got {axes}",
    source=f"{MEASURED}: facts/graphs.json",
)
def norm_over_many_axes(node: NodeView, target: Target) -> Answer:
    """onnx2tf supports {op} over one or two axes, ReduceL1 not over all."""
    axes = node.attr("axes", None)
    if axes is None and node.input(1) is None:
        return node.op == "ReduceL1" and Yes(text="object of type 'NoneType' has no len()")
    return axes is not None and len(axes) > _MOST


@rule(
    "LayerNormalization",
    feature="op:LayerNormalization",
    severity=REJECT,
    text="'NoneType' object is not iterable",
    source=f"{MEASURED}: facts/asked.json, layer-norm-11: what is read after it has no shape;"
    " onnxruntime knows the operator in all opsets",
)
def normalization_before_its_opset(node: NodeView, target: Target) -> Answer:
    """onnx2tf infers no shape for LayerNormalization below opset 17."""
    y = node.output(0)
    return node.opset < _LAYERS_NORMALIZED and y is not None and any(True for _ in y.consumers)
