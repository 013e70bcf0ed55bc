"""TopK, OneHot, Where, NonZero, Range, CumSum, Trilu, random tensors."""

from __future__ import annotations

from graphfix.analysis.folding.upper_bounds import upper_bound
from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import BUILDER, NOTE, REJECT, WRONG, Answer, Yes, rule
from graphfix.engines.rule_makers import needs_constant, refuses_rank, refuses_types
from graphfix.engines.tensorrt.rules.parsed import engine_type, is_weights
from graphfix.ir.storage.weights import type_name
from graphfix.ir.views import NodeView

_POLYGRAPHY = (
    " Try applying constant folding on the model using Polygraphy: https://github.com/NVIDIA/"
    "TensorRT/tree/master/tools/Polygraphy/examples/cli/surgeon/02_folding_constants"
)
_MAX_K = 3840

topk_k = needs_constant(
    "TopK",
    1,
    "K",
    versions="trt7.0..trt8.5",
    text='Assertion failed: (inputs.at(1).is_weights()) && "This version of TensorRT only supports '
    'input K as an initializer."',
    source="builtin_op_importers.cpp: importTopK (8.2, 8.5)",
)


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


@rule(
    "TopK",
    feature="attr:TopK.largest",
    versions="trt5.1..trt7",
    severity=WRONG,
    source="builtin_op_importers.cpp:3130-3180 (7.0): largest is never read",
)
def topk_largest(node: NodeView, target: Target) -> Answer:
    """TensorRT ignores largest=0 of TopK and returns the largest elements."""
    return not int(node.attr("largest", 1))


topk_of_integers = refuses_types(
    "topk-of-integers",
    ("TopK", "ArgMax", "ArgMin"),
    ("int32", "int64"),
    versions="trt7.0..trt7",
    text="Assertion failed: tensorPtr->getType() != nvinfer1::DataType::kINT32",
    source="builtin_op_importers.cpp:3130 (7.0), onnx2trt_utils.cpp:66 (7.1)",
)


@rule(
    ("ArgMax", "ArgMin"),
    feature="attr:ArgMax.select_last_index",
    versions="trt7.0..trt7",
    severity=WRONG,
    source="onnx2trt_utils.cpp:66 (7.1): select_last_index is never read",
)
def arg_last(node: NodeView, target: Target) -> Answer:
    """TensorRT ignores select_last_index of {op}."""
    return bool(node.attr("select_last_index", 0))


cumsum_axis = needs_constant(
    "CumSum",
    1,
    "axis",
    versions="trt7.2..",
    text=f"Axis input for CumSum must be an initializer!{_POLYGRAPHY}",
    source="builtin_op_importers.cpp:1022 (8.6.1)",
)


def _values(node: NodeView, index: int) -> bool:
    value = node.input(index)
    return value is None or is_weights(value)


@rule(
    "Range",
    feature="dtype:Range",
    versions="trt8.4..",
    severity=REJECT,
    text="Assertion failed: (inputs.at(0).isInt32() || inputs.at(0).isFp32()) && "
    '"This version of TensorRT only supports int32 and float input types for Range!"',
    source="builtin_op_importers.cpp:3576 (8.6.1)",
)
def range_type(node: NodeView, target: Target) -> Answer:
    """TensorRT supports Range of int32, int64 and float32 only."""
    start = node.need(0)
    found = engine_type(start, target)
    if not found:
        return Unknown(f"dtype of {start.name}")
    taken = ("int32", "int64", "float32")
    return found not in taken and Yes(feature=f"dtype:Range.{start.type_name}")


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
    found = engine_type(start, target)
    if not found:
        return Unknown(f"dtype of {start.name}")
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


nonzero_type = refuses_types(
    "nonzero-type",
    "NonZero",
    ("uint8",),
    versions="trt8.5..",
    text='Assertion failed: ... && "Only FLOAT, HALF, INT32, INT8 or BOOL input is supported for '
    'the NonZero operator in this version of TensorRT"',
    source="builtin_op_importers.cpp:5384 (8.6.1)",
    unknown=False,
)


@rule(
    "OneHot",
    feature="const:OneHot.depth",
    versions="trt8.5..trt9.3",
    severity=BUILDER,
    text="OneHot does not support dynamic depth input",
    source="NvInfer.h 8.6.1:6384-6390",
)
def onehot_depth(node: NodeView, target: Target) -> Answer:
    """TensorRT requires a depth of OneHot that is known at build time."""
    depth = node.input(1)
    return depth is not None and not is_weights(depth)


trilu_rank = refuses_rank(
    "Trilu",
    0,
    range(2, 4),
    versions="trt8.5..trt8.5",
    text='Assertion failed: (nbDims == 2 || nbDims == 3) && "Trilu input must have 2 or 3 input '
    'dimensions!"',
    source="builtin_op_importers.cpp: importTrilu (8.5)",
)


@rule(
    ("RandomUniformLike", "RandomNormalLike"),
    feature="form:RandomLike.constant",
    versions="trt8..",
    severity=REJECT,
    text="Assertion failed: (inputs.at(0).is_tensor()) && "
    '"The input tensor cannot be an initializer."',
    source="builtin_op_importers.cpp:3499, 3562 (8.6.1)",
)
def random_like_constant(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support an initializer as the input of {op}."""
    return is_weights(node.input(0)) and Yes(feature=f"form:{node.op}.constant")


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
    ("RandomUniform", "RandomNormal", "RandomUniformLike", "RandomNormalLike"),
    feature="attr:Random.seed",
    versions="trt8..",
    severity=NOTE,
    text='TensorRT currently ignores the "seed" field in {op} op. Random seeds will be used.',
    source="builtin_op_importers.cpp:3482 (8.6.1)",
)
def random_seed(node: NodeView, target: Target) -> Answer:
    """TensorRT ignores the seed of {op}."""
    return "seed" in node.node.attrs


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
