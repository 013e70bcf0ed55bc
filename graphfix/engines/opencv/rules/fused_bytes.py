"""QuantizeLinear and DequantizeLinear in OpenCV 5, and what it makes one layer of bytes of.

Each alone is right but for what is said here. Where what is between some of them becomes one
layer, that may compute something else; written out, QuantizeLinear is no end of such a layer.
"""

from __future__ import annotations

import numpy as np

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView, Value

_BYTES = frozenset({"int8", "uint8"})
_SUMMED = frozenset({"Add", "Mul"})
_MISTAKEN = frozenset({"Div", "Max", "Min", "Sub"})
_CLOSE = 1e-4
_ASKED = "facts/asked.json"


@rule(
    "QuantizeLinear",
    feature="op:QuantizeLinear",
    versions="opencv5.0..",
    severity=WRONG,
    source=f"measured on 5.0.0: {_ASKED}, quantize and quantize-ties; of uint8 and int8 alone",
)
def quantize_to_odd_zero(node: NodeView, target: Target) -> Answer:
    """OpenCV adds the zero point before rounding, so halves go the other way if it is odd."""
    return _odd_zero(node)


@rule(
    ("DequantizeLinear", "QuantizeLinear"),
    feature="op:{op}",
    versions="opencv5.0..",
    severity=REJECT,
    text="zpshape == scshape in function",
    source="dequantizelinear_layer.cpp:189, quantlizelinear_layer.cpp:180 (5.0.0);"
    f" {_ASKED}, quantize-parameters and dequantize-parameters",
)
def parameters_of_two_shapes(node: NodeView, target: Target) -> Answer:
    """OpenCV requires the zero point of {op} to have the shape of the scale."""
    return _two_shapes(node)


@rule(
    "DequantizeLinear",
    feature="op:DequantizeLinear",
    versions="opencv5.0..",
    severity=WRONG,
    source=f"only numbers of 8 and 32 bits were asked: {_ASKED}, dequantize-*",
)
def dequantize_others(node: NodeView, target: Target) -> Answer:
    """OpenCV: DequantizeLinear of this type, or of blocks, was not measured."""
    data = node.input(0)
    if data is None or node.attr("block_size", 0):
        return True
    if data.dtype is None:
        return Unknown(f"dtype of {data.name}")
    return data.type_name not in {*_BYTES, "int32"}


@rule(
    "QuantizeLinear",
    feature="op:QuantizeLinear",
    versions="opencv5.0..",
    severity=WRONG,
    source=f"measured on 5.0.0: {_ASKED}, between-bytes, between-others, convolved-bytes*",
)
def fused_with_quantize(node: NodeView, target: Target) -> Answer:
    """OpenCV fuses the nodes before QuantizeLinear into a layer with different results."""
    return _is_misfused(node)


@rule(
    "QuantizeLinear",
    feature="op:QuantizeLinear",
    versions="opencv5.0..",
    severity=REJECT,
    source=f"measured on 5.0.0: {_ASKED}, multiplied-bytes; without a third input it is right",
)
def gemm_of_bytes(node: NodeView, target: Target) -> Answer:
    """OpenCV does not support a quantized Gemm with the input C."""
    return _is_refused_gemm(node)


@rule(
    "DequantizeLinear",
    feature="op:DequantizeLinear",
    versions="opencv5.0..",
    severity=WRONG,
    source="what was measured of the QuantizeLinear before it: the two are written out together",
)
def dequantize_what_was_misread(node: NodeView, target: Target) -> Answer:
    """OpenCV passes DequantizeLinear other values than ONNX's QuantizeLinear returns."""
    data = node.input(0)
    before = None if data is None else data.producer
    if before is None or before.op != "QuantizeLinear" or before.domain:
        return False
    if _two_shapes(before) or _is_refused_gemm(before):
        return Yes(severity=REJECT)
    return _is_misfused(before) or _odd_zero(before)


def _odd_zero(node: NodeView) -> Answer:
    """Say whether halves may be rounded the other way."""
    result, zero = node.output(0), node.input(2)
    if result is None or result.type_name not in _BYTES or node.attr("block_size", 0):
        return True
    if zero is None:
        return False
    known = zero.array()
    if known is None:
        return Unknown("the zero point, which must be even")
    odd = bool((known.astype(np.int64) % 2).any())
    return Unknown("whether values lie halfway between two steps") if odd else False


def _two_shapes(node: NodeView) -> bool:
    """Say whether the zero point has another shape than the scale."""
    scale, zero = node.input(1), node.input(2)
    if scale is None or zero is None:
        return False
    shapes = (scale.static_shape, zero.static_shape)
    return None not in shapes and shapes[0] != shapes[1]


def _is_misfused(node: NodeView) -> bool:
    """Say whether a layer that computes something else ends with a QuantizeLinear."""
    made = _maker(node.input(0))
    if made is not None and made.op == "Relu":
        inner = _maker(made.input(0))
        made = inner if inner is not None and inner.op in _MISTAKEN | _SUMMED else made
    if made is None:
        return False
    if made.op == "Conv":
        return _scales_the_bias(made)
    first, second = (_bytes_of(value) for value in [*made.inputs, None, None][:2])
    if first is None or second is None or first == second:
        return False
    if made.op in _MISTAKEN:
        return True
    return made.op in _SUMMED and first.type_name != second.type_name


def _is_refused_gemm(node: NodeView) -> bool:
    """Say whether a Gemm with a third input becomes a layer of bytes."""
    made = _maker(node.input(0))
    if made is None or made.op != "Gemm" or _bytes_of(made.input(2)) is None:
        return False
    return _bytes_of(made.input(0)) is not None and _is_plain_weight(made.input(1))


def _maker(value: Value | None) -> NodeView | None:
    """Return the node that computes what one node alone reads."""
    if value is None or value.is_graph_output or len(value.consumers) != 1:
        return None
    return value.producer


def _bytes_of(value: Value | None) -> Value | None:
    """Return the bytes that a tensor is dequantized from."""
    node = None if value is None else value.producer
    return node.input(0) if node is not None and node.op == "DequantizeLinear" else None


def _scale_of(value: Value | None) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]] | None:
    node = None if value is None else value.producer
    scale = None if node is None or node.op != "DequantizeLinear" else node.input(1)
    known = None if scale is None else scale.array()
    return None if known is None else known.astype(np.float64).reshape(-1)


def _is_plain_weight(value: Value | None) -> bool:
    """Say whether weights are of int8 with no zero point but 0."""
    node, stored = None if value is None else value.producer, _bytes_of(value)
    if node is None or stored is None or stored.type_name != "int8":
        return False
    zero = node.input(2)
    known = None if zero is None else zero.array()
    return zero is None or (known is not None and not known.any())


def _scales_the_bias(conv: NodeView) -> bool:
    """Say whether the bias of a Conv has another scale than the product that it is added to."""
    if not _is_plain_weight(conv.input(1)):
        return False
    data, weights, bias = (_scale_of(value) for value in [*conv.inputs, None, None][:3])
    if data is None or weights is None or bias is None:
        return False
    return not np.allclose(data * weights, bias, rtol=_CLOSE, atol=0.0)
