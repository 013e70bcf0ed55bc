"""TopK, OneHot, Where, NonZero, Range, CumSum, Trilu, random tensors."""

from __future__ import annotations

from graphfix.analysis.folding.upper_bounds import upper_bound
from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import BUILDER, REJECT, Answer, Yes, rule
from graphfix.engines.tensorrt.rules.parsed import engine_type, is_weights
from graphfix.ir.storage.weights import type_name
from graphfix.ir.views import NodeView, needed

_MAX_K = 3840


@rule(
    "TopK",
    feature="attr:TopK.k",
    versions="trt7.0..",
    severity=BUILDER,
    text="TopK: K exceeds the maximum value allowed (3840).",
    source="NvInfer.h 8.6.1:7335; NVIDIA/TensorRT issues 3846, 4244",
)
def topk_size(node: NodeView, target: Target) -> Answer:
    """TensorRT supports TopK with K of at most 3840."""
    k = node.input(1)
    array = k.array() if k is not None else None
    if array is not None and array.size == 1:
        return int(array.flatten()[0]) > _MAX_K
    if k is None:
        return int(node.attr("k", 1)) > _MAX_K
    size, most = node.need(0).dim(int(node.attr("axis", -1))), upper_bound(k)
    fits = any(bound is not None and bound <= _MAX_K for bound in (size, most))
    return None if fits else Unknown(f"value of {k.name}")


def _values(node: NodeView, index: int) -> bool:
    value = node.input(index)
    return value is None or is_weights(value)


@rule(
    "Range",
    feature="dtype:Range",
    versions="trt7.0..trt8.2",
    severity=REJECT,
    text="Assertion failed: inputs.at(0).isInt32() && "
    '"For range operator with dynamic inputs, this version of TensorRT only supports INT32!"',
    source="builtin_op_importers.cpp: importRange (8.0), 2254-2304 (7.0)",
)
def range_dynamic(node: NodeView, target: Target) -> Answer:
    """TensorRT supports Range with computed bounds for int32 only."""
    if all(_values(node, index) for index in range(3)):
        return None
    start = node.need(0)
    found = needed(engine_type(start, target) or None, f"dtype of {start.name}")
    return found != "int32" and Yes(feature=f"dtype:Range.{start.type_name}")


@rule(
    "Range",
    feature="shape:Range.rank",
    versions="trt8.4..",
    severity=REJECT,
    text="IElementWiseLayer inputs must have the same number of dimensions",
    source="builtin_op_importers.cpp:3600-3610, ShapeTensor.cpp:250 (8.6.1)",
)
def range_ranks(node: NodeView, target: Target) -> Answer:
    """TensorRT requires scalar start, limit and delta of Range."""
    ranks = {value.rank for value in node.inputs if value is not None}
    ranks.discard(None)
    return len(ranks) > 1


_WHERE = '"This version of TensorRT does not support BOOL types for Where operators."'


@rule(
    "Where",
    feature="dtype:Where.bool",
    versions="trt7.1..trt8.4",
    severity=REJECT,
    text=_WHERE,
    source="builtin_op_importers.cpp: importWhere (8.2), 3557-3566 (7.1)",
)
def where_of_bool(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support Where of bool values."""
    for index in (1, 2):
        value = node.input(index)
        if value is None:
            continue
        found = engine_type(value, target)
        if not found:
            return Unknown(f"dtype of {value.name}")
        if found == "bool":
            return True
    return None


@rule(
    ("RandomUniform", "RandomNormal", "RandomUniformLike", "RandomNormalLike"),
    feature="dtype:Random",
    versions="trt8..",
    severity=REJECT,
    text="Unsupported data type",
    source="builtin_op_importers.cpp:3470, 3535 (8.6.1)",
)
def random_type(node: NodeView, target: Target) -> Answer:
    """TensorRT supports {op} of float32 and float16 only."""
    if "dtype" not in node.node.attrs:
        return None
    found = type_name(int(node.attr("dtype", 1)))
    return found not in ("float32", "float16") and Yes(feature=f"dtype:{node.op}.{found}")


@rule(
    "ReverseSequence",
    feature="shape:ReverseSequence.dynamic",
    versions="trt7.2..trt8.5",
    severity=REJECT,
    text='Assertion failed: size != -1 && "This version of TensorRT does not support dynamic '
    'ReverseSequence lengths!"',
    source="builtin_op_importers.cpp: importReverseSequence (8.5)",
)
def reverse_sequence_dynamic(node: NodeView, target: Target) -> Answer:
    """TensorRT requires a static batch size of ReverseSequence."""
    data = node.need(0)
    return data.dim(int(node.attr("batch_axis", 1))) is None
