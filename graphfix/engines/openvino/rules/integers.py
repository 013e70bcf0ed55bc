"""OpenVINO: quotients of integers that it computes in floats and rounds, and constant quantizers.

A chain of arithmetic with constants after a product or a reduction is one kernel of its CPU plugin,
which computes in float32 and rounds the last result to the nearest integer, ties to even.
"""

from __future__ import annotations

from collections.abc import Iterator

from graphfix.analysis.shape_only_values import of_shapes_alone
from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import REDUCTIONS

_ASKED = "asked of 2026.4.1: facts/asked.json"
_BYTES = ("int8", "uint8")
_WHOLE = ("int32", "int64")
_KERNELS = frozenset(
    {*REDUCTIONS, "ConvInteger", "Einsum", "Gemm", "MatMul", "MatMulInteger", "Resize"}
)
_JOINED = frozenset({"Add", "Div", "Mul", "Sub"})
_ALONE = frozenset({"Abs", "Clip", "Neg", "Relu"})
_MOVED = frozenset(
    {"Expand", "Flatten", "Gather", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"}
)


@rule(
    "Div",
    feature="dtype:Div.int8",
    versions="openvino2026.4..",
    severity=WRONG,
    source="measured on 2026.4.1 with free sizes; with fixed ones it truncates: facts/asked.json, "
    "quotients",
)
def quotient_of_bytes(node: NodeView, target: Target) -> Answer:
    """OpenVINO rounds quotients of int8 and uint8 to the nearest integer where sizes are free."""
    kind, result = node.need(0).type_name, node.output(0)
    if kind not in _BYTES or result is None or result.static_shape is not None:
        return None
    if any(Value(given).static_shape is None for given in node.graph.root.inputs):
        return Yes(feature=f"dtype:Div.{kind}")
    return Unknown(f"sizes of {result.name}")


@rule(
    "Div",
    feature="form:Div.integers-after-kernel",
    versions="openvino2026.4..",
    severity=WRONG,
    source=f"{_ASKED}, quotients-after-kernels and those after it",
)
def quotient_in_a_kernel(node: NodeView, target: Target) -> Answer:
    """OpenVINO rounds a quotient of integers that it computes with a product or reduction."""
    if not {node.need(0).type_name, node.need(1).type_name} & set(_WHOLE):
        return None
    return _in_a_kernel(node)


def _in_a_kernel(node: NodeView) -> bool:
    """Say whether a chain that nothing else reads leads from a kernel to arithmetic."""
    for data in _chained(node):
        while data.producer is not None and len(data.consumers) == 1:
            maker = data.producer
            if maker.op in _KERNELS:
                return True
            following = list(_chained(maker))
            if len(following) != 1:
                break
            data = following[0]
    return False


def _chained(node: NodeView) -> Iterator[Value]:
    """Yield the operand that a node of a chain computes with constants."""
    operands = [operand for operand in node.inputs if operand is not None]
    whole = node.op == "Cast" and operands[0].type_name in _WHOLE
    if node.op in _ALONE or node.op in _MOVED or whole:
        yield operands[0]
    elif node.op in _JOINED and len(operands) == 2:
        computed = [operand for operand in operands if not of_shapes_alone(operand)]
        if len(computed) == 1:
            yield computed[0]


@rule(
    "DequantizeLinear",
    feature="const:QuantizeLinear.input",
    versions="openvino2026.4..",
    severity=REJECT,
    text="Check 'index < m_inputs.size()' failed at src/core/src/node.cpp:304: index '0' out of "
    "range",
    source=f"{_ASKED}, quantized-constants",
)
def constant_quantized_for_arithmetic(node: NodeView, target: Target) -> Answer:
    """OpenVINO fails on a quantized constant that is added to or multiplied with another tensor."""
    quantizer, result = node.need(0).producer, node.output(0)
    if quantizer is None or quantizer.op != "QuantizeLinear" or result is None:
        return None
    if not _is_fixed(quantizer.need(0)):
        return None
    return any(_is_quantized_with(reader, result) for reader in result.consumers)


def _is_quantized_with(reader: NodeView, constant: Value) -> bool:
    """Say whether a constant is combined with what is dequantized at run time."""
    if reader.op not in ("Add", "Mul", "Sub") or (
        reader.op == "Sub" and reader.need(1) == constant
    ):
        return False
    return any(
        operand != constant
        and operand.producer is not None
        and operand.producer.op == "DequantizeLinear"
        and not _is_fixed(operand)
        for operand in (reader.need(0), reader.need(1))
    )


def _is_fixed(value: Value) -> bool:
    """Say whether a tensor is a constant, or one that is dequantized."""
    maker = value.producer
    if maker is not None and maker.op == "DequantizeLinear":
        return all(operand is None or operand.array() is not None for operand in maker.inputs)
    return value.array() is not None
