"""QNN: QuantizeLinear and DequantizeLinear, next to an operator between bytes or without one."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.folded_early import is_folded
from graphfix.engines.profile import Target
from graphfix.engines.qnn.rules.provider import LEFT, PROVIDER
from graphfix.engines.rule import NOTE, REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView, Value, needed

_PAIR = ("DequantizeLinear", "QuantizeLinear")
_FACTS = f"{PROVIDER}: facts/asked.json, quantized"
_READ = frozenset({"int16", "int8", "uint16", "uint8"})
_WEIGHT = 1  # the place of weights, which alone have a scale for each channel
_WEIGHTED = frozenset({"Conv", "ConvTranspose", "Gemm", "MatMul"})
_MOVES = ("Flatten", "Gather", "Reshape", "Resize", "Slice", "Squeeze", "Tile", "Unsqueeze")
# Operators that are left to the CPU between signed bytes, which they take between others.
_UNSIGNED = ("CumSum", "HardSigmoid", "LRN", "LeakyRelu", "LogSoftmax", "Neg")


@rule(_PAIR, feature="op:{op}", severity=REJECT, text=LEFT, source=_FACTS)
def quantized_by_channels(node: NodeView, target: Target) -> Answer:
    """QNN supports per-channel or int32 {op} only next to a quantized operator."""
    scale, zero = node.input(1), node.input(2)
    if scale is None or not is_folded(scale) or not (zero is None or is_folded(zero)):
        return Yes(feature=f"const:{node.op}.scale")
    if len(node.graph.nodes) == 1:
        return True  # a part of a model that is nothing else
    stored = node.input(0) if node.op == "DequantizeLinear" else node.output(0)
    if stored is None or not stored.type_name:
        return Unknown("the type of the bytes")
    shape = needed(scale.static_shape, f"sizes of {scale.name}")
    one = all(size == 1 for size in shape)
    if one and stored.type_name in _READ:
        return None
    result = node.output(0)
    if node.op == "QuantizeLinear" or result is None:
        return True
    return not result.consumers or any(
        not _is_between_bytes(user) or not _takes_at(node, user, one=one)
        for user in result.consumers
    )


def _takes_at(node: NodeView, user: NodeView, *, one: bool) -> bool:
    """Say whether an operator between bytes takes what is dequantized where it is given."""
    stored, result, zero = node.need(0), node.output(0), node.input(2)
    if user.op not in _WEIGHTED or result is None:
        return False
    place = list(user.inputs).index(result)
    if stored.type_name == "int32":
        return place > _WEIGHT
    if one or place != _WEIGHT or stored.type_name != "int8":
        return False
    known = None if zero is None else zero.array()
    return zero is None or (known is not None and not known.any())


@rule(
    _UNSIGNED,
    feature="form:{op}.of-int8",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, quantized-operators",
)
def between_signed_bytes(node: NodeView, target: Target) -> Answer:
    """QNN does not support int8 {op} between DequantizeLinear and QuantizeLinear."""
    if not _is_between_bytes(node):
        return None
    maker = node.need(0).producer
    return maker is not None and maker.need(0).type_name == "int8"


@rule(_PAIR, feature="op:{op}", severity=WRONG, source=_FACTS)
def quantized_without_rounding(node: NodeView, target: Target) -> Answer:
    """QNN drops or truncates {op} that is not next to a quantized operator."""
    if node.op == "DequantizeLinear":
        maker, result = node.need(0).producer, node.output(0)
        if maker is None or maker.op != "QuantizeLinear" or result is None or _ends(maker):
            return None
        return result.is_graph_output or any(
            not _is_between_bytes(user) for user in result.consumers
        )
    maker, result = node.need(0).producer, node.output(0)
    if maker is None or result is None or _is_between_bytes(maker):
        return None
    return any(user.op != "DequantizeLinear" for user in result.consumers) or (
        result.is_graph_output
    )


@rule(_PAIR, feature="op:{op}", severity=WRONG, source=_FACTS)
def rounded_by_a_step(node: NodeView, target: Target) -> Answer:
    """QNN computes quantized operators in integers, which may differ from ONNX by one step."""
    if node.op == "QuantizeLinear":
        maker = node.need(0).producer
        users = [] if maker is None else [maker]
    else:
        result = node.output(0)
        users = [] if result is None else list(result.consumers)
    if any(_is_between_bytes(user) for user in users):
        if target.steps:
            return Yes(severity=NOTE)
        return Unknown("how much of their range its values take")
    return None


@rule(
    _MOVES,
    feature="dtype:{op}.*",
    severity=REJECT,
    text=LEFT,
    source="measured on onnxruntime-qnn 2.7.0: each of them is taken between floats and not"
    " between bytes, signed and unsigned",
)
def moved_between_quantizers(node: NodeView, target: Target) -> Answer:
    """QNN does not support {op} of quantized bytes except between two quantizers."""
    given, result = node.input(0), node.output(0)
    # Its profile refuses the others of int8 wherever they are.
    kinds = ("int8", "uint8") if node.op == "Squeeze" else ("uint8",)
    if given is None or result is None or given.type_name not in kinds:
        return None
    read = any(one.op == "DequantizeLinear" and not one.domain for one in result.consumers)
    if not read and not _is_made_by(given, "QuantizeLinear"):
        return None
    return Yes(feature=f"dtype:{node.op}.{given.type_name}")


def _ends(quantize: NodeView) -> bool:
    """Say whether a QuantizeLinear is after an operator between bytes."""
    maker = quantize.need(0).producer
    return maker is not None and _is_between_bytes(maker)


def _is_between_bytes(node: NodeView) -> bool:
    """Say whether all floats of a node come from bytes and go to bytes, and nowhere else."""
    if node.op in _PAIR:
        return False
    given = [value for value in node.inputs if value is not None and not value.is_constant]
    floats = [value for value in given if value.dtype is None or value.dtype.kind == "f"]
    if not floats or not all(_is_made_by(value, "DequantizeLinear") for value in floats):
        return False
    outputs = [value for value in node.outputs if value is not None]
    return all(
        not value.is_graph_output
        and len(value.consumers) == 1
        and value.consumers[0].op == "QuantizeLinear"
        for value in outputs
    )


def _is_made_by(value: Value, op: str) -> bool:
    maker = value.producer
    return maker is not None and maker.op == op
