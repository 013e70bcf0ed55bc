"""TFLite: sequences, which are ragged tensors of TensorFlow to onnx2tf."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, rule
from graphfix.engines.tflite.rules import MEASURED
from graphfix.ir.views import NodeView

_ASKED = f"{MEASURED}: facts/asked.json"


@rule(
    "SequenceConstruct",
    feature="op:SequenceConstruct",
    severity=REJECT,
    source=f"{_ASKED}, sequence-of-others: the first size may differ",
)
def parts_of_other_sizes(node: NodeView, target: Target) -> Answer:
    """onnx2tf requires SequenceConstruct inputs whose shapes differ in the first axis only."""
    shapes = [value.shape for value in node.inputs if value is not None]
    if any(shape is None for shape in shapes):
        return Unknown("shapes of what is put together")
    return len({shape[1:] for shape in shapes if shape is not None}) > 1
