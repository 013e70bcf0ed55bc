"""What TensorRT 5.1 to 7.2 ask of any model: no gaps, no empty constants, an implicit batch."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.common_rules import given_inputs, weights_in_files
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, Yes, model_rule, rule
from graphfix.engines.tensorrt.rules.parsed import engine_type, is_weights, opset_of
from graphfix.ir.graph import Constant, is_empty
from graphfix.ir.model import Model
from graphfix.ir.storage.weights import type_name
from graphfix.ir.views import NodeView, needed

_IMPLICIT = "trt5.1..trt6"


@rule(
    feature="form:omitted-input",
    versions="..trt6-fulldims",
    severity=REJECT,
    text="Assertion failed: tensors.count(input_name)",
    source="ModelImporter.cpp:567 (6.0), 490 (6.0-full-dims)",
)
def omitted_input(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support an omitted (empty) input of {op}."""
    return any(is_empty(tensor) for tensor in node.node.inputs)


@rule(
    feature="form:empty-constant",
    versions="trt7.0",
    severity=REJECT,
    text="Assertion failed: ctx->tensors().count(inputName)",
    source="ModelImporter.cpp:175, onnx2trt_utils.cpp:247-300 (7.0); onnx-tensorrt pull 369",
)
def empty_constant(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support an empty constant as an input of {op}."""
    for value in node.inputs:
        if value is not None and is_weights(value) and 0 in (value.static_shape or ()):
            return True
    return None


@model_rule(
    feature="form:external-data",
    versions="..trt7.0",
    severity=REJECT,
    text="Assertion failed: convertOnnxWeights(initializer, &weights, ctx)",
    source="onnx2trt_utils.cpp:247-300 (7.0): external_data is never read",
)
def external_data(model: Model, target: Target) -> Answer:
    """TensorRT does not read external data files."""
    return weights_in_files(model)


@model_rule(
    feature="rank:input",
    versions=_IMPLICIT,
    severity=REJECT,
    text="Assertion failed: trt_dims.nbDims <= 3",
    source="ModelImporter.cpp:79 (6.0)",
)
def implicit_batch_rank(model: Model, target: Target) -> list[Answer]:
    """TensorRT supports graph inputs of at most three dimensions plus the batch."""
    return [
        Yes(
            feature=f"rank:input.{len(tensor.shape)}",
            message=f"TensorRT supports 4 dimensions; input {tensor.name} has {len(tensor.shape)}",
        )
        for tensor in given_inputs(model)
        if tensor.shape is not None and len(tensor.shape) > 4
    ]


@rule(
    ("Gather", "Concat", "Split", "Softmax", "LogSoftmax", "ArgMax", "ArgMin", "TopK"),
    feature="attr:axis",
    versions=_IMPLICIT,
    severity=REJECT,
    text="Assertion failed: axis >= 0 && axis < nbDims",
    source="onnx2trt_utils.hpp:400-414 (6.0): the batch dimension is stripped",
)
def batch_axis(node: NodeView, target: Target) -> Answer:
    """TensorRT uses an implicit batch dimension, which {op} must not change."""
    default = 1 if node.op.endswith("Softmax") else -1 if node.op == "TopK" else 0
    axis = int(node.attr("axis", default))
    data = node.need(0)
    if is_weights(data):
        return None
    if axis < 0:
        if data.rank is None:
            return Unknown(f"rank of {data.name}")
        axis += data.rank
    return axis == 0 and Yes(feature=f"attr:{node.op}.batch-axis")


@rule(
    "Transpose",
    feature="attr:Transpose.batch-axis",
    versions=_IMPLICIT,
    severity=REJECT,
    text="Assertion failed: perm.order[BATCH_DIM] == BATCH_DIM",
    source="builtin_op_importers.cpp:1999 (6.0)",
)
def transpose_batch(node: NodeView, target: Target) -> Answer:
    """TensorRT uses an implicit batch dimension, which Transpose must not move."""
    perm = node.attr("perm")
    return True if perm is None else bool(perm) and perm[0] != 0


@rule(
    "Cast",
    feature="dtype:Cast",
    versions="..trt6-fulldims",
    severity=REJECT,
    text="Assertion failed: trt_dtype == nvinfer1::DataType::kHALF && cast_dtype == "
    "::ONNX_NAMESPACE::TensorProto::FLOAT",
    source="builtin_op_importers.cpp:685-698 (6.0), 278-291 (6.0-full-dims)",
)
def cast_from_half_only(node: NodeView, target: Target) -> Answer:
    """TensorRT supports Cast from float16 to float32 only."""
    data, wanted = node.need(0), type_name(int(node.attr("to")))
    found = needed(engine_type(data, target) or None, f"dtype of {data.name}")
    if (found, wanted) == ("float16", "float32"):
        return None
    return Yes(feature=f"dtype:Cast.{wanted}")


@rule(
    "Slice",
    feature="const:Slice.starts",
    versions="trt6..trt6-fulldims",
    severity=REJECT,
    text="Assertion failed: weights.is_weights()",
    source="builtin_op_importers.cpp:1688-1718 (6.0), 1684-1746 (6.0-full-dims)",
)
def slice_bounds(node: NodeView, target: Target) -> Answer:
    """TensorRT requires constant starts and ends of Slice."""
    for index, name in enumerate(("starts", "ends", "axes", "steps"), 1):
        value = node.input(index)
        if value is not None and not isinstance(value.tensor, Constant) and not is_weights(value):
            return Yes(feature=f"const:Slice.{name}")
        if target.variant == "" and opset_of(node) >= 10 and value is None:
            return Yes(feature=f"form:Slice.no-{name}")
    return None


@rule(
    "Dropout",
    feature="form:Dropout.mask",
    versions="..trt7",
    severity=REJECT,
    text="Assertion failed: ctx->getOpsetVersion() < 10",
    source="builtin_op_importers.cpp:837-853 (7.0)",
)
def dropout_mask(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support the mask output of Dropout from opset 10 on."""
    return len(node.node.outputs) > 1 and opset_of(node) >= 10
