"""OpenVINO: scales by channel in QOperators, infinite scales, 16 bits, and 4 of constants."""

from __future__ import annotations

import numpy as np

from graphfix.analysis.shape_only_values import of_shapes_alone
from graphfix.authoring.declaring import Unknown
from graphfix.engines.operands import only_reader, quantizer_reported_at
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView, Value

_TRANSPOSED, _WIDE = "ConvTranspose", 3
_ASKED = "asked of 2026.4.1: facts/asked.json"


@rule(
    "QLinearConv",
    feature="op:QLinearConv",
    versions="openvino2026.4..",
    severity=REJECT,
    text="The number of dequantization scale elements '{count}' must match the input shape "
    "dimension pointed to by the axis attribute: 1",
    source=f"{_ASKED}, convolved-channels",
)
def scales_of_convolved_channels(node: NodeView, target: Target) -> Answer:
    """OpenVINO reads scales by channel of QLinearConv along the axis of inputs, not outputs."""
    weights, scales = node.need(3), node.need(4)
    if scales.rank == 0:
        return None
    count, within = scales.dim(0), weights.dim(1)
    if count is None or within is None:
        return Unknown(f"sizes of {scales.name if count is None else weights.name}")
    if count != within:
        return True
    return Yes(severity=WRONG) if count > 1 else None


@rule(
    "QLinearMatMul",
    feature="op:QLinearMatMul",
    versions="openvino2026.4..",
    severity=REJECT,
    text="Scalar value can't be derived from a node with [{count}]",
    source=f"{_ASKED}, multiplied-columns",
)
def scales_of_multiplied_columns(node: NodeView, target: Target) -> Answer:
    """OpenVINO supports one scale for each operand of QLinearMatMul only."""
    answers = [_several(node.need(at)) for at in (1, 4, 6)]
    return True if True in answers else next((one for one in answers if one), None)


def _several(scales: Value) -> bool | Unknown | None:
    """Say whether there are several scales."""
    if scales.static_shape is None:
        return None if scales.rank == 0 else Unknown(f"shape of {scales.name}")
    return bool(np.prod(scales.static_shape) > 1)


@rule(
    ("DequantizeLinear", "QuantizeLinear"),
    feature="const:{op}.scale",
    versions="openvino2026.4..",
    severity=WRONG,
    source="measured on 2026.4.1 of int8 and uint8, in pairs and alone: of 1.33445e36 and "
    "more all steps are the same, next below the last step is one less",
)
def infinite_scale(node: NodeView, target: Target) -> Answer:
    """OpenVINO quantizes differently from onnxruntime where 256 of a scale are no float32."""
    if node.op == "QuantizeLinear" and all(r.op == "DequantizeLinear" for r in _readers(node)):
        return None  # what reads it has the finding
    scales = node.need(1).array()
    if scales is None or scales.dtype.kind != "f":
        return None
    with np.errstate(over="ignore"):
        return not bool(np.isfinite(scales.astype(np.float32) * np.float32(256)).all())


def _readers(node: NodeView) -> tuple[NodeView, ...]:
    result = node.output(0)
    return () if result is None else result.consumers


@rule(
    "com.microsoft::MatMulNBits",
    feature="op:com.microsoft::MatMulNBits",
    versions="openvino2026.4..",
    severity=REJECT,
    text="Check 'm_element_type.is_static()' failed at src/inference/src/dev/make_tensor.cpp:58",
    source="asked of 2026.4.1: a stored tensor, and what is computed of one, with every kind of "
    "zero points",
)
def product_of_constants(node: NodeView, target: Target) -> Answer:
    """OpenVINO fails to fold MatMulNBits of a constant."""
    a = node.need(0)
    return of_shapes_alone(a) and a.static_shape is not None


@rule(
    ("DequantizeLinear", "com.microsoft::DequantizeLinear"),
    feature="dtype:{op}.int16",
    versions="openvino2026.4..",
    severity=WRONG,
    source=f"{_ASKED}, pairs-of-16-bits",
)
def unsaturated_pair(node: NodeView, target: Target) -> Answer:
    """OpenVINO does not saturate what is quantized to 16 bits and dequantized again."""
    quantizer = quantizer_reported_at(node)
    zero = None if quantizer is None else quantizer.input(2)
    kind = "" if zero is None else zero.type_name
    if kind not in ("int16", "uint16"):
        return None
    return Yes(feature=f"op:{node.domain}::{node.op}" if node.domain else f"dtype:{node.op}.{kind}")


@rule(
    "DequantizeLinear",
    feature="shape:DequantizeLinear.transposed-weights",
    versions="openvino2026.4..",
    severity=WRONG,
    source="measured on 2026.4.1 at kernel 8, strides 1 to 8 and pads 0 to 2: right without bias, "
    "zero point 0, QuantizeLinear after it, or with strides 1 and 2",
)
def weights_of_biased_transposed_convolutions(node: NodeView, target: Target) -> Answer:
    """OpenVINO scales the bias of a quantized ConvTranspose of stride 3 or more wrongly."""
    result = node.output(0)
    if result is None or node.need(0).array() is None:
        return None
    return any(_adds_its_bias(reader) for reader in result.consumers if reader.op == _TRANSPOSED)


def _adds_its_bias(conv: NodeView) -> bool:
    data = conv.need(0).producer
    if data is None or data.op != "DequantizeLinear" or max(conv.attr("strides", [1])) < _WIDE:
        return False
    zero = data.input(2)
    known = None if zero is None else zero.array()
    if zero is not None and (known is None or known.any()):
        return False
    end, biased = conv, conv.input(2) is not None
    following = only_reader(end.output(0))
    if following is not None and following.op == "Add":
        end, biased = following, True
    following = only_reader(end.output(0))
    return biased and following is not None and following.op == "QuantizeLinear"
