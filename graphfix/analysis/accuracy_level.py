"""Have onnxruntime compute products with packed weights as their formula says.

At accuracy_level 4 its kernels round the other operand to 8 bits: an approximation of what
MatMulNBits and its kin mean, and one of their own, which no other engine makes. A copy of the
model at level 0, which leaves the precision to the kernel, is run in its place; that is the one
of the operand (microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.MatMulNBits;
onnxruntime/contrib_ops/cpu/quantization/matmul_nbits.cc).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from onnx import AttributeProto, ModelProto

from graphfix.ir.protos import copied, nodes_of_model

_DOMAIN = "com.microsoft"
_NAME = "accuracy_level"
_INT8 = 4
SAID = "compared with accuracy_level 0: at 4 onnxruntime rounds an operand of {} to int8"


def at_level_0(model: ModelProto) -> ModelProto:
    """Return the model with no operand rounded to 8 bits; itself where none is."""
    if not any(True for _ in _rounding(model)):
        return model
    copy = copied(model)
    for _, attribute in _rounding(copy):
        attribute.i = 0
    return copy


def level_changed(models: Iterable[ModelProto]) -> str:
    """Return what is to be said of a comparison of models; empty where no level was changed."""
    operators = sorted({operator for model in models for operator, _ in _rounding(model)})
    return SAID.format(" and ".join(operators)) if operators else ""


def _rounding(model: ModelProto) -> Iterator[tuple[str, AttributeProto]]:
    for node in nodes_of_model(model):
        if node.domain == _DOMAIN:
            for attribute in node.attribute:
                if attribute.name == _NAME and attribute.i >= _INT8:
                    yield node.op_type, attribute
