"""TFLite: sums of absolute values and of squares, for which onnx2tf calls ``tf.norm``."""

from __future__ import annotations

from graphfix.authoring.views import NodeView
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, Yes, rule
from graphfix.engines.tflite.rules import MEASURED

_MOST = 2  # axes that tf.norm takes


@rule(
    ("ReduceL1", "ReduceL2"),
    feature="form:{op}.axes-input",
    versions="tflite",
    severity=REJECT,
    text="'axis' must be None, an integer, or a tuple of 2 unique integers, got {axes}",
    source=f"{MEASURED}: facts/graphs.json; what comes of an input are no integers of Python",
)
def norm_by_axes_input(node: NodeView, target: Target) -> Answer:
    """{op} is refused where its axes are an input, as from opset 18 on."""
    return node.input(1) is not None


@rule(
    ("ReduceL1", "ReduceL2"),
    feature="attr:{op}.axes",
    versions="tflite",
    severity=REJECT,
    text="'axis' must be None, an integer, or a tuple of 2 unique integers, got {axes}",
    source=f"{MEASURED}: facts/graphs.json",
)
def norm_over_many_axes(node: NodeView, target: Target) -> Answer:
    """{op} over more than two axes is refused, and ReduceL1 over all."""
    axes = node.attr("axes", None)
    if axes is None and node.input(1) is None:
        return node.op == "ReduceL1" and Yes(text="object of type 'NoneType' has no len()")
    return axes is not None and len(axes) > _MOST
