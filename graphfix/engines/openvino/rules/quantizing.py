"""OpenVINO: scales of QOperators, infinite ones, 16 bits, 4 of constants, and casts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto

from graphfix.analysis.shape_only_values import is_made_of, of_shapes_alone
from graphfix.authoring.declaring import Unknown
from graphfix.engines.operands import only_reader, quantizer_reported_at
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView, Value

_TRANSPOSED, _WIDE = "ConvTranspose", 3
_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)
_BYTES = ("int8", "uint8", "int16", "uint16")
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


@rule(
    "Cast",
    feature="form:Cast.quantized",
    versions="openvino2026.4..",
    severity=WRONG,
    source="measured on 2026.4.1 of 8 and 16 bits, cast to float16, float32 and float64, with and "
    "without Sub: right with Add or Div in place of either, constants alone, 4 bits, a wider rank, "
    "and where anything else reads one of the tensors",
)
def cast_scaled_by_a_wider_tensor(node: NodeView, target: Target) -> Answer:
    """OpenVINO drops axes that a quantized tensor gets where its Cast is scaled at run time."""
    maker = node.need(0).producer
    if maker is None or maker.op != "QuantizeLinear" or not _read_once(node.need(0)):
        return None
    quantized, given = node.need(0), node.output(0)
    zero = maker.input(2)
    kind = quantized.type_name if zero is None else zero.type_name
    if node.attr("to") not in _FLOATS or kind not in _BYTES:
        return None
    operands: list[Value] = []
    following = only_reader(given) if _read_once(given) else None
    if following is not None and following.op == "Sub" and following.need(0) == given:
        operands.append(following.need(1))
        given = following.output(0)
        following = only_reader(given) if _read_once(given) else None
    if following is None or following.op != "Mul":
        return None
    operands += [operand for operand in following.inputs if operand and operand != given]
    if all(_folds(operand) for operand in operands):
        return None
    return _widened(quantized, operands)


def _folds(value: Value) -> bool:
    return of_shapes_alone(value) and not any(is_made_of(value, op) for op in ("Shape", "Size"))


def _read_once(value: Value | None) -> bool:
    return value is not None and not value.is_graph_output and len(value.consumers) == 1


def _widened(value: Value, operands: Sequence[Value]) -> bool | Unknown | None:
    """Say whether operands of no more axes than a tensor give it longer ones."""
    unknown = next((each for each in (value, *operands) if each.shape is None), None)
    if unknown is not None:
        return Unknown(f"rank of {unknown.name}")
    own = tuple(value.shape or ())
    if any(len(each.shape or ()) > len(own) for each in operands):
        return None
    doubt = False
    for each in operands:
        shape = tuple(each.shape or ())
        for had, other in zip(own[len(own) - len(shape) :], shape, strict=True):
            if had == 1 and other != 1:
                return True
            free = had is None or isinstance(had, str)
            doubt |= free and other != 1 and (had is None or had != other)
    return Unknown(f"sizes of {value.name}") if doubt else None
