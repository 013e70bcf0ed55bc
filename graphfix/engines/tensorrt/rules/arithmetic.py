"""Elementwise operators, MatMul, Gemm, Einsum and Reduce*: what they take and read."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import BUILDER, REJECT, WRONG, Answer, Yes, rule
from graphfix.engines.tensorrt.rules.parsed import (
    engine_type,
    every,
    is_weights,
    opset_of,
    type_finding,
    words,
)
from graphfix.ir.views import NodeView, Value, needed

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
    found = needed(engine_type(value, target) or None, f"dtype of {value.name}")
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
    found = needed(engine_type(value, target) or None, f"dtype of {value.name}")
    if found == "uint8":
        return type_finding(node, value, "Found invalid input type of UINT8")
    if found in ("float32", "float16", "int32", "int64", "bfloat16"):
        return None
    # Omitted inputs are tensors for the parser, null ones.
    computed = any(not is_weights(node.input(i)) for i in every(node)[1:])
    if found == "bool" and not computed:
        return type_finding(node, value, "Found invalid input type of BOOL")
    return type_finding(node, value) if computed else None


FLOAT_ONLY = words(
    "Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor Log Reciprocal Round "
    "Sign Sin Sinh Sqrt Tan ReduceLogSumExp"
)
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


@rule(
    "Gemm",
    feature="rank:Gemm",
    versions="trt8..",
    severity=REJECT,
    text="Assertion failed: inputA.getDimensions().nbDims == 2 && inputB.getDimensions().nbDims == "
    '2 && "GEMM must have 2D inputs!"',
    source="builtin_op_importers.cpp:1619 (8.6.1)",
)
def gemm_rank(node: NodeView, target: Target) -> Answer:
    """TensorRT supports Gemm of 2D inputs only."""
    for index in (0, 1):
        value = node.need(index)
        if value.rank is None:
            return Unknown(f"rank of {value.name}")
        if value.rank != 2:
            return Yes(feature=f"rank:Gemm.{value.rank}")
    return None


@rule(
    "MatMul",
    feature="rank:MatMul.1",
    versions="trt8..",
    severity=REJECT,
    text="[graphShapeAnalyzer.cpp::analyzeShapes] Error Code 4: Miscellaneous (IShuffleLayer: "
    "reshaping failed for tensor: reshape would change volume)",
    source="builtin_op_importers.cpp:2905-2915 (8.6.1), importMatMul (10.1): the vector is "
    "broadcast, not promoted",
)
def matmul_vector(node: NodeView, target: Target) -> Answer:
    """TensorRT squeezes the wrong axis of MatMul of a vector by a tensor of rank 3 or more."""
    first, second = node.need(0), node.need(1)
    if first.rank not in (None, 1) or second.rank in (1, 2):
        return None
    if first.rank is None or second.rank is None:
        return Unknown(f"rank of {(first if first.rank is None else second).name}")
    batch = second.dim(0)
    if batch == 1:
        return second.rank > 3 and Yes(severity=WRONG)
    return Unknown(f"size of {second.name}") if batch is None else True


@rule(
    "Einsum",
    feature="attr:Einsum.equation",
    versions="trt8.2..",
    severity=REJECT,
    text="Invalid character(s) in Einsum equation",
    source="builtin_op_importers.cpp:1382-1398 (8.6.1), onnxOpCheckers.cpp: checkEinsum (10.1)",
)
def einsum_characters(node: NodeView, target: Target) -> Answer:
    """TensorRT supports only lower-case letters in the Einsum equation."""
    equation = str(node.attr("equation", ""))
    bad = [c for c in equation if not ("a" <= c <= "z") and c not in "->., "]
    return bool(bad) and Yes(text=f"Invalid character(s) in Einsum equation: {','.join(bad)}")


@rule(
    "Einsum",
    feature="attr:Einsum.equation",
    versions="trt8.2..trt10.11",
    severity=BUILDER,
    source="operators.md (8.6.1): no ellipsis, no diagonal, no broadcasting",
)
def einsum_form(node: NodeView, target: Target) -> Answer:
    """TensorRT supports no ellipsis, repeated label or broadcasting in the Einsum equation."""
    equation = str(node.attr("equation", "")).replace(" ", "")
    if "..." in equation:
        return Yes(feature="attr:Einsum.ellipsis")
    terms = equation.partition("->")[0].split(",")
    if any(len(set(term)) < len(term) for term in terms):
        return Yes(feature="attr:Einsum.diagonal")
    sizes: dict[str, set[int]] = {}
    for term, value in zip(terms, node.inputs, strict=False):
        for axis, label in enumerate(term):
            size = None if value is None else value.dim(axis)
            if size is not None:
                sizes.setdefault(label, set()).add(size)
    if any(len(known) > 1 for known in sizes.values()):
        return Yes(feature="attr:Einsum.broadcast")
    return None


_SUM = ("ReduceSum", "ReduceLogSum")
_OTHERS = (
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSumSquare",
)


def _axes_change_the_result(node: NodeView) -> bool:
    """Whether reducing all axes, as the engine does, differs from what the axes say."""
    axes, data = node.input(1), node.input(0)
    if axes is None or data is None:
        return False
    if axes.dim(0) == 0 and axes.rank == 1:
        return bool(node.attr("noop_with_empty_axes", 0))
    values = axes.array()
    if values is None or data.rank is None:
        return True
    if not data.rank:
        return False
    return len({int(axis) % data.rank for axis in values.flatten()}) < data.rank


@rule(
    _OTHERS,
    feature="form:Reduce.axes-input",
    versions="..trt9.3",
    severity=WRONG,
    source="builtin_op_importers.cpp:3624-3715, onnx2trt_utils.cpp:1535 (8.6.1)",
)
def reduce_axes_input(node: NodeView, target: Target) -> Answer:
    """TensorRT ignores the axes input of {op} and reduces all axes."""
    if node.input(1) is None or not _axes_change_the_result(node):
        return None
    return Yes(feature=f"form:{node.op}.axes-input")


@rule(
    "ReduceLogSumExp",
    feature="form:ReduceLogSumExp.axes-input",
    versions="trt10.0..trt10.10",
    severity=WRONG,
    source="onnxOpImporters.cpp:4307-4317 (10.1): the axes are not handed on",
)
def log_sum_exp_axes_input(node: NodeView, target: Target) -> Answer:
    """TensorRT ignores the axes input of ReduceLogSumExp and reduces all axes."""
    return node.input(1) is not None and _axes_change_the_result(node)


@rule(
    "ReduceSum",
    feature="form:ReduceSum.axes-input",
    versions="..trt7",
    severity=WRONG,
    source="builtin_op_importers.cpp:2516 (7.1): reduceTensor",
)
def reduce_sum_axes_input(node: NodeView, target: Target) -> Answer:
    """TensorRT ignores the axes input of ReduceSum and reduces all axes."""
    return node.input(1) is not None and _axes_change_the_result(node)


@rule(
    (*_SUM, *_OTHERS),
    feature="form:Reduce.noop_with_empty_axes",
    versions="..trt9.3",
    severity=WRONG,
    source="onnx2trt_utils.cpp:1535 (8.6.1): noop_with_empty_axes is never read",
)
def reduce_noop(node: NodeView, target: Target) -> Answer:
    """TensorRT ignores noop_with_empty_axes=1 of {op} and reduces all axes."""
    attrs = node.node.attrs
    if "noop_with_empty_axes" not in attrs or "axes" in attrs:
        return None
    if not node.attr("noop_with_empty_axes") or node.input(1) is not None:
        return None
    rank = needed(node.need(0).rank, f"rank of {node.need(0).name}")
    return rank > 0 and Yes(feature=f"form:{node.op}.noop_with_empty_axes")
