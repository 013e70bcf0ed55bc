"""Constant, Cast, and uint8 between nodes."""

from __future__ import annotations

from onnx import TensorProto

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import BUILDER, REJECT, WRONG, Answer, Yes, rule
from graphfix.engines.rule_makers import refuses_types
from graphfix.engines.tensorrt.rules.interfaces import weight_types
from graphfix.engines.tensorrt.rules.parsed import engine_type
from graphfix.ir.attributes import AttributeRef
from graphfix.ir.storage.weights import type_name
from graphfix.ir.views import NodeView

_CAST = (
    'Assertion failed: convertDtype(onnxType, &newType) && "Unsupported data type for the Cast '
    'operator!"'
)
# Cast targets: convertDtype, onnx2trt_utils.cpp:346 (8.6.1).
_CASTS = frozenset({"float64", "float32", "int8", "float16", "bool", "int32", "int64"})


@rule(
    "Constant",
    feature="form:Constant.value_int",
    versions="trt8",
    severity=WRONG,
    source="builtin_op_importers.cpp:595-616 (8.6.1): the integers are read as floats",
)
def constant_integers(node: NodeView, target: Target) -> Answer:
    """TensorRT reads Constant with value_int as 0, and with value_ints as an empty tensor."""
    attrs = node.node.attrs
    for name in ("value_int", "value_ints"):
        if name in attrs:
            return Yes(feature=f"form:Constant.{name}")
    return None


@rule(
    "Constant",
    feature="form:Constant.value_string",
    versions="trt7.1..",
    severity=REJECT,
    text='Assertion failed: (!attrs.count("sparse_value")) && (!attrs.count("value_string")) && '
    '(!attrs.count("value_strings")) && "This version of TensorRT does not support the '
    'sparse_value, value_string and value_strings attributes."',
    source="builtin_op_importers.cpp:573 (8.6.1)",
)
def constant_form(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support this value attribute of Constant."""
    attrs = node.node.attrs
    for name in ("sparse_value", "value_string", "value_strings"):
        if name in attrs:
            return Yes(feature=f"form:Constant.{name}")
    return None


@rule(
    "Constant",
    feature="dtype:Constant",
    versions="trt",
    severity=REJECT,
    text="Unable to convert ONNX weights",
    source="OnnxAttrs.cpp:90, onnx2trt_utils.cpp:748 (8.6.1)",
)
def constant_type(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support a Constant of this element type."""
    attrs = node.node.attrs
    value = attrs.get("value")
    if not isinstance(value, TensorProto):
        return None
    name = type_name(value.data_type)
    return None if name in weight_types(target) else Yes(feature=f"dtype:{name}")


@rule(
    "Cast",
    feature="dtype:Cast",
    versions="trt7.0..",
    severity=REJECT,
    text=_CAST,
    source="builtin_op_importers.cpp:288, onnx2trt_utils.cpp:346 (8.6.1)",
)
def cast_target(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support Cast to this element type."""
    attrs = node.node.attrs
    wanted = attrs.get("to")
    if isinstance(wanted, AttributeRef):
        return Unknown("attribute to")
    if not isinstance(wanted, int):
        return None
    name = type_name(wanted)
    taken = _CASTS
    if target.level >= (8, 5):
        taken |= {"uint8"}
    if target.level < (8, 0):
        taken -= {"float64"}
    if target.level >= (9, 0):
        taken |= {"bfloat16", "float8e4m3fn"}
    if name == "int4" and target.level >= (10, 0):
        # convertDtype has it (importerUtils.cpp:328 of 10.1); the layer does not.
        return Yes(feature="dtype:Cast.int4", severity=BUILDER)
    return None if name in taken else Yes(feature=f"dtype:Cast.{name}")


@rule(
    feature="dtype:uint8",
    versions="trt8.5..",
    severity=REJECT,
    text='Assertion failed: legalUINT8 && "TensorRT does not support UINT8 types for intermediate '
    'tensors!"',
    source="ModelImporter.cpp:243 (8.6.1)",
)
def uint8_between_nodes(node: NodeView, target: Target) -> Answer:
    """TensorRT supports uint8 for graph inputs and outputs only; {op} returns it inside."""
    for position, tensor in enumerate(node.node.outputs):
        if tensor.elem_type != TensorProto.UINT8 or not tensor.name:
            continue
        value = node.output(position)
        if value is None or engine_type(value, target) != "uint8":
            continue
        if not value.is_graph_output:
            return True
    return None


_UINT8 = "Found invalid input type of UINT8"
where_of_uint8 = refuses_types(
    "where-of-uint8",
    "Where",
    ("uint8",),
    versions="trt8.5..",
    text=_UINT8,
    source="builtin_op_importers.cpp:5136-5137 (8.6.1), importWhere (10.1)",
    indices=(1, 2),
    unknown=False,
)
one_hot_of_uint8 = refuses_types(
    "one-hot-of-uint8",
    "OneHot",
    ("uint8",),
    versions="trt8.5..",
    text=_UINT8,
    source="builtin_op_importers.cpp:3214-3216 (8.6.1), onnxOpImporters.cpp:3750 (10.1)",
    indices=(1, 2),
    unknown=False,
)


@rule(
    "Cast",
    feature="dtype:uint8",
    versions="trt8.0..trt8.4",
    severity=REJECT,
    text=_CAST,
    source="onnx2trt_utils.cpp:346 (8.4)",
)
def cast_from_uint8(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support Cast from uint8."""
    value = node.input(0)
    return value is not None and engine_type(value, target) == "uint8"
