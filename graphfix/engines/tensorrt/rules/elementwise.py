"""Elementwise operators, two operands and one: which element types they take."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import BUILDER, REJECT, Answer, Yes, rule
from graphfix.engines.tensorrt.rules.parsed import (
    engine_type,
    every,
    is_weights,
    opset_of,
    type_finding,
)
from graphfix.engines.tensorrt.rules.unary import FLOAT_ONLY
from graphfix.ir.views import NodeView, Value

_BROADCAST = (
    "Assertion failed: tensor_ptr->getDimensions().nbDims == maxNbDims && "
    '"Failed to broadcast tensors elementwise!"'
)
_ARITHMETIC = ("Add", "Sub", "Mul", "Div", "Max", "Min", "Sum", "Mean")
_COMPARING = ("Greater", "Less", "GreaterOrEqual", "LessOrEqual")


@rule(
    "Mod",
    feature="dtype:Mod",
    versions="trt8.5..",
    severity=REJECT,
    text="Assertion failed: (input0->getType() == DataType::kINT32) && "
    '"The fmod attribute is set to 0. Inputs cannot be of floating point types."',
    source="builtin_op_importers.cpp:3072 (8.6.1)",
)
def mod_of_floats(node: NodeView, target: Target) -> Answer:
    """TensorRT supports Mod with fmod=0 of int32 and int64 only."""
    value = node.input(0)
    if value is None or int(node.attr("fmod", 0)):
        return None
    found = engine_type(value, target)
    if not found:
        return Unknown(f"dtype of {value.name}")
    if found in ("int32", "int64"):
        return None
    text = "Found invalid input type of UINT8" if found == "uint8" else ""
    return type_finding(node, value, text)


_CLIP = (
    "Assertion failed: (type == DataType::kFLOAT || type == DataType::kHALF || type == "
    'DataType::kINT32) && "This version of TensorRT only supports FLOAT or INT32 inputs for Clip!"'
)


@rule(
    "Clip",
    feature="dtype:Clip",
    versions="trt8.2..",
    severity=REJECT,
    text=_CLIP,
    source="builtin_op_importers.cpp:464-481 (8.6.1)",
)
def clip_type(node: NodeView, target: Target) -> Answer:
    """TensorRT supports Clip of float and int32 only."""
    value = node.input(0)
    if value is None:
        return None
    found = engine_type(value, target)
    if not found:
        return Unknown(f"dtype of {value.name}")
    if found == "uint8":
        return type_finding(node, value, "Found invalid input type of UINT8")
    if found in ("float32", "float16", "int32", "int64", "bfloat16"):
        return None
    # Omitted inputs are tensors for the parser, null ones.
    computed = any(not is_weights(node.input(i)) for i in every(node)[1:])
    if found == "bool" and not computed:
        return type_finding(node, value, "Found invalid input type of BOOL")
    return type_finding(node, value) if computed else None


# Operators that keep the shape; those of opset 1 have no shape inference.
_KEEPING = frozenset((*FLOAT_ONLY, "Abs", "Neg", "Relu", "Sigmoid", "Tanh", "Identity"))
_DEPTH = 32


def _rank(value: Value) -> int | None:
    """Return the rank of a value, seen through operators that keep it."""
    for _ in range(_DEPTH):
        producer = value.producer
        if value.rank is not None or producer is None or producer.op not in _KEEPING:
            break
        first = producer.input(0)
        if first is None:
            break
        value = first
    return value.rank


@rule(
    (*_ARITHMETIC, *_COMPARING[:2], "Equal", "PRelu", "Pow", "And", "Or", "Xor"),
    feature="opset:too-low",
    versions="trt7.0..",
    severity=REJECT,
    text='Assertion failed: ctx->getOpsetVersion() >= 7 && "Pre-opset 7 broadcasting is '
    'unsupported in this version of the ONNX parser"',
    source="onnx2trt_utils.cpp:166-200 (8.6.1): broadcastTensor",
)
def old_broadcasting(node: NodeView, target: Target) -> Answer:
    """TensorRT ignores the broadcast attributes of {op} below opset 7."""
    opsets = node.graph.opsets
    if opset_of(node) >= 7 or (opsets and "" not in opsets):
        # Without an import (files of ai.onnx.ml alone) one is added for what a pass emits.
        return None
    operands = [value for value in node.inputs if value is not None]
    if len(operands) < 2:
        return None
    if target.level >= (10, 0) and node.op != "PRelu":
        return True  # importerUtils.cpp:161 (10.1): refused before the ranks are looked at
    ranks = [_rank(value) for value in operands]
    if None in ranks:
        return Unknown(f"rank of {operands[ranks.index(None)].name}")
    if len(set(ranks)) == 1:
        return None
    return Yes(text="" if node.op == "PRelu" else _BROADCAST)


@rule(
    (*_ARITHMETIC, *_COMPARING, "Equal", "Pow"),
    feature="dtype:mixed",
    versions="trt7.0..",
    severity=BUILDER,
    text="[ElementWise]: operation has incompatible input types",
    source="NVIDIA/TensorRT issue 1872",
)
def mixed_types(node: NodeView, target: Target) -> Answer:
    """TensorRT requires one element type for the operands of {op}, and reads different ones."""
    if node.op == "Pow" and target.level >= (10, 12):
        return None  # the parser casts one of them: Changelog.md (10.8, 10.12), tensorrt-rtx 1.4.0
    seen = {engine_type(value, target) for value in node.inputs if value is not None}
    seen.discard("")
    return len(seen) > 1
