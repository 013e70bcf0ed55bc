"""OpenVINO: what its low precision transformations leave so that the plugin refuses it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from graphfix.engines.operands import holds_negatives, only_reader
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, rule
from graphfix.ir.views import Array, NodeView, Value

_BYTES = ("int8", "uint8")
_QUANTIZE = "QuantizeLinear"
# Measured each: what scales of a zero point are moved past, and what is fused with a convolution.
_MOVED_PAST = frozenset(
    {
        *("AveragePool", "Expand", "Flatten", "Identity", "MaxPool", "Pad", "Reshape", "Resize"),
        *("Slice", "Split", "Squeeze", "Transpose", "Unsqueeze"),
    }
)
_BY_A_CONSTANT = frozenset({"Add", "Div", "Mul", "Sub"})
_FUSED = frozenset(
    {
        *("Abs", "BatchNormalization", "Clip", "Elu", "HardSwish", "Identity", "LeakyRelu", "Neg"),
        *("PRelu", "Relu", "Sigmoid", "Sqrt", "Tanh", "Transpose"),
    }
)
_JOINED = frozenset({"BatchNormalization", "Identity", "Relu"})


@rule(
    _QUANTIZE,
    feature="form:QuantizeLinear.concatenated",
    versions="openvino2026.4..",
    severity=REJECT,
    text="SIGSEGV",
    source="move_fake_quantize.cpp and network_helper.cpp (moveDequantizationBefore) of the low "
    "precision transformations, where it ends; measured on 2026.4.1 of int8 and uint8, Concat of "
    "any axis and rank: right without a zero point, where all parts are of size 1, where something "
    "else reads a tensor on the way, and with negative factors",
)
def quantized_twice_after_concat(node: NodeView, target: Target) -> Answer:
    """OpenVINO crashes on a Concat that is quantized with a zero point, scaled and quantized."""
    joined = node.need(0).producer
    if joined is not None and joined.op == "Relu":
        joined = joined.need(0).producer
    if joined is None or joined.op != "Concat" or not _read_once(joined.output(0)):
        return None
    axis = int(joined.attr("axis"))
    parts = [part.dim(axis) for part in joined.inputs if part is not None]
    if len(parts) == 1 or all(size == 1 for size in parts):
        return None
    back = reader_of(node)
    if back is None or back.op != "DequantizeLinear" or not _is_shifted(back.input(2)):
        return None
    following = reader_of(back)
    while following is not None and _scales_by_positives(following):
        following = reader_of(following)
    return following is not None and following.op == _QUANTIZE


def _scales_by_positives(node: NodeView) -> bool:
    """Say whether a node is joined with the quantization that follows it."""
    if node.op == "BatchNormalization":
        return not _has_negatives(node.need(1))
    factors = node.inputs[1:] if node.op in ("Div", "Sub") else node.inputs
    if node.op in _BY_A_CONSTANT and any(one and number_of(one) is not None for one in factors):
        return node.op in ("Add", "Sub") or not any(_has_negatives(one) for one in factors)
    return node.op in _JOINED


def _has_negatives(value: Value | None) -> bool:
    known = None if value is None else number_of(value)
    return holds_negatives(value) or (known is not None and bool((known < 0).any()))


def number_of(value: Value) -> Array | None:
    """Return a constant, or what a DequantizeLinear of a constant has the signs of."""
    known, maker = value.array(), value.producer
    if known is not None or maker is None or maker.op != "DequantizeLinear":
        return known
    stored, zero = maker.need(0).array(), maker.input(2)
    none = None if zero is None else zero.array()
    if stored is None or (zero is not None and none is None):
        return None
    return stored.astype(np.int64) - (0 if none is None else none.astype(np.int64).reshape(-1)[0])


@rule(
    ("DequantizeLinear", "QLinearConv"),
    feature="form:{op}.unsigned-weights",
    versions="openvino2026.4..",
    severity=REJECT,
    text="No suitable implementations.This may indicate that the provided memory descriptors are "
    "not compatible with any implementation.",
    source="executor_factory.hpp:117 of the CPU plugin (2026.4.1), as its refusal says; measured "
    "of Conv of rank 3 to 5, in groups and not, with one scale and several: right with int8 "
    "weights of any zero point, uint8 ones with one, an operand without, ConvTranspose and MatMul",
)
def unsigned_weights(node: NodeView, target: Target) -> Answer:
    """OpenVINO refuses Conv of bytes with a zero point and uint8 weights without one."""
    if node.op == "QLinearConv":
        return _is_unsigned(node.need(3), node.input(5)) and _is_shifted(node.input(2))
    result = node.output(0)
    if result is None or not _is_unsigned(node.need(0), node.input(2)):
        return None
    return any(
        reader.op == "Conv"
        and reader.need(1) == result
        and any(_is_shifted(maker.input(2)) for maker in _dequantizers(reader.need(0)))
        and _is_quantized(reader)
        for reader in result.consumers
    )


def _is_unsigned(weights: Value, zero: Value | None) -> bool:
    stored, none = weights.array(), None if zero is None else zero.array()
    known = zero is None or (none is not None and not none.any())
    return known and stored is not None and stored.dtype == np.uint8


def _is_shifted(zero: Value | None) -> bool:
    known = None if zero is None else zero.array()
    return known is not None and str(known.dtype) in _BYTES and bool(known.any())


def _dequantizers(value: Value) -> Iterator[NodeView]:
    """Yield what dequantizes a tensor, with one scale and zero point if these are several."""
    maker = value.producer
    while maker is not None and maker.op != "DequantizeLinear":
        if maker.op == "Concat":
            found = [one for part in maker.inputs if part for one in _dequantizers(part)]
            if len(found) == len(maker.inputs) and len({one.inputs[1:] for one in found}) == 1:
                yield found[0]
            return
        scaled = maker.op in ("Div", "Mul") and maker.need(1).array() is not None
        maker = maker.need(0).producer if scaled or maker.op in _MOVED_PAST else None
    if maker is not None:
        yield maker


def _is_quantized(node: NodeView) -> bool:
    """Say whether a convolution is fused with what quantizes its result to bytes."""
    following = reader_of(node)
    while following is not None and following.op != _QUANTIZE:
        given = [one for one in following.inputs if one is not None]
        scaled = following.op in _BY_A_CONSTANT and any(one.array() is not None for one in given)
        gated = following.op == "Mul" and len(given) == len(set(given)) and _is_gate(following)
        fused = scaled or gated or following.op in _FUSED
        following = reader_of(following) if fused else None
    zero = None if following is None else following.input(2)
    return following is not None and (zero is None or zero.type_name in _BYTES)


def reader_of(node: NodeView) -> NodeView | None:
    """Return what alone reads the result of a node, a product with its own Sigmoid as one node."""
    result = node.output(0)
    if result is None or result.is_graph_output:
        return None
    for reader in result.consumers:
        if reader.op == "Mul" and _is_gate(reader) and result in reader.inputs:
            return reader if len(result.consumers) == 2 else None
    return only_reader(result)


def _is_gate(node: NodeView) -> bool:
    """Say whether a Mul is of a tensor and its Sigmoid, which nothing else reads."""
    for one, other in ((0, 1), (1, 0)):
        maker = node.need(one).producer
        if maker is not None and maker.op == "Sigmoid" and _read_once(maker.output(0)):
            return maker.need(0) == node.need(other)
    return False


def _read_once(value: Value | None) -> bool:
    return value is not None and not value.is_graph_output and only_reader(value) is not None
