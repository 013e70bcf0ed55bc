"""OpenCV: pixels between two bytes, where bytes are resized."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import WRONG, Answer, rule
from graphfix.ir.views import NodeView

_CLOSE = 1e-6


@rule(
    "Resize",
    feature="attr:Resize.mode=linear",
    versions="opencv5.0..",
    severity=WRONG,
    source="measured on 5.0.0: bytes of 4 x 5 to 8 x 10, by asymmetric coordinates 2 of 80 are off"
    " by 1, where onnxruntime gives a half exactly",
)
def halves_of_bytes(node: NodeView, target: Target) -> Answer:
    """OpenCV rounds halves in linear Resize of 8-bit integers differently from onnxruntime."""
    data, result = node.need(0), node.output(0)
    if node.attr("mode", "nearest") != "linear" or result is None or data.producer is None:
        return None
    if data.producer.op != "DequantizeLinear":
        return None
    writers = [reader for reader in result.consumers if reader.op == "QuantizeLinear"]
    if not any(_may_halve(data.producer, writer) for writer in writers):
        return None
    return Unknown("whether a pixel lies halfway between two bytes")


def _may_halve(reader: NodeView, writer: NodeView) -> bool:
    """Say whether what lies between bytes that are read can be a half of one that is written."""
    given, wanted = reader.need(1).array(), writer.need(1).array()
    if given is None or wanted is None or given.size != 1 or wanted.size != 1:
        return True
    ratio = 2 * float(given.flat[0]) / float(wanted.flat[0])
    return abs(ratio - round(ratio)) < _CLOSE
