"""TFLite: numbers that become bytes."""

from __future__ import annotations

from graphfix.authoring.views import NodeView
from graphfix.engines.profile import Target
from graphfix.engines.rule import WRONG, Answer, rule
from graphfix.engines.tflite.rules import MEASURED
from graphfix.schemas import form_of


@rule(
    "QuantizeLinear",
    feature="op:QuantizeLinear",
    versions="tflite",
    severity=WRONG,
    source=f"{MEASURED}: facts/asked.json, quantize-numbers and quantize-there-and-back; of opsets"
    " 13 and 25 the profile says it",
)
def numbers_not_rounded(node: NodeView, target: Target) -> Answer:
    """QuantizeLinear rounds nothing and keeps numbers beyond what bytes hold."""
    form = form_of(node.op, node.opset)
    return form is None or form.since not in target.ops[node.op].wrong
