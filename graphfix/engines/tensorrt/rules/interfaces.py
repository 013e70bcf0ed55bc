"""The model as a whole: opset numbers, graph inputs and outputs, initializers."""

from __future__ import annotations

from onnx import SparseTensorProto

from graphfix.engines.common_rules import given_inputs, undeclared_outputs
from graphfix.engines.engine import engine_of
from graphfix.engines.profile import Target
from graphfix.engines.rule import BUILDER, NOTE, REJECT, Answer, Yes, model_rule, read_graphs
from graphfix.ir.graph import Constant, Variable
from graphfix.ir.model import Model
from graphfix.ir.storage.weights import type_name
from graphfix.ir.views import NodeView

_CONVERT = (
    'Assertion failed: convertDtype(onnxDtype.elem_type(), &trtDtype) && "Failed to convert ONNX '
    'date type to TensorRT data type."'
)
_INITIALIZER = (
    'Assertion failed: convertOnnxWeights(initializer, &weights, ctx) && "Failed to import '
    'initializer."'
)
# Element types of initializers and of Constant: convertOnnxWeights, onnx2trt_utils.cpp:550-760.
_WEIGHTS = frozenset({"float32", "float64", "float16", "int8", "uint8", "int32", "int64", "bool"})


def weight_types(target: Target) -> frozenset[str]:
    """Return the element types that the parser takes as weights."""
    taken = _WEIGHTS
    if target.level < (8, 0):
        taken -= {"float64", "uint8"}
    if target.level >= (9, 0):
        taken |= {"bfloat16", "float8e4m3fn"}
    if target.level >= (10, 0):
        taken |= {"int4"}
    return taken


@model_rule(
    feature="opset:too-high",
    versions="trt",
    severity=NOTE,
    source="ModelImporter.cpp:531 (8.6.1): there is no check from above",
)
def opset_too_high(model: Model, target: Target) -> Answer:
    """TensorRT accepts this opset but supports older ones only."""
    if model.opset <= target.opset_max:
        return None
    return (
        f"{target.title} supports opsets up to {target.opset_max}; it accepts {model.opset} "
        "but may misread operators that changed"
    )


@model_rule(
    feature="opset:too-low",
    versions="trt",
    severity=NOTE,
    text="TensorRT supports ONNX graphs generated with at least opset 7. "
    "Models using older opsets are not guaranteed to work.",
    source="ModelImporter.cpp:536 (8.6.1)",
)
def opset_too_low(model: Model, target: Target) -> Answer:
    """TensorRT does not guarantee support for this old opset."""
    return 0 < model.opset < (target.opset_min or 7)


@model_rule(
    feature="domain:missing-import",
    versions="trt7.0..trt8",
    severity=REJECT,
    text="map::at",
    source="ImporterContext.hpp:235-255 (8.6.1)",
)
def default_domain_missing(model: Model, target: Target) -> Answer:
    """TensorRT requires an opset import of the default ONNX domain."""
    opsets = model.graph.opsets
    if "" in opsets or len(opsets) < 2:
        return None
    return any(node.domain in (None, "", "ai.onnx") for node in model.graph.nodes)


def _io_type(tensor: Variable) -> str:
    if tensor.opaque is None:
        return type_name(tensor.elem_type)
    return str(tensor.opaque.WhichOneof("value")).removesuffix("_type")


@model_rule(
    feature="io:input",
    versions="trt",
    severity=REJECT,
    text=_CONVERT,
    source="ModelImporter.cpp:293, onnx2trt_utils.cpp:346 (8.6.1)",
)
def input_type(model: Model, target: Target) -> list[Answer]:
    """TensorRT does not support the element type of a graph input."""
    if target.io_dtypes is None:
        return []
    found: list[Answer] = []
    for tensor in given_inputs(model):
        name = _io_type(tensor)
        if name not in target.io_dtypes:
            found.append(
                Yes(
                    feature=f"io:{name}-input",
                    message=f"TensorRT does not support {name} of graph input {tensor.name}",
                )
            )
    return found


_OUTPUT = _CONVERT.replace("onnxDtype", "output.type().tensor_type()").replace(
    "trtDtype", "output_trt_dtype"
)


@model_rule(
    feature="io:undeclared-output",
    versions="trt",
    severity=REJECT,
    text=_OUTPUT,
    source="ModelImporter.cpp:582 (8.6.1), :785 (10.1); tensorrt-rtx 1.7.1",
)
def output_undeclared(model: Model, target: Target) -> list[Answer]:
    """TensorRT requires a declared element type for each graph output."""
    return undeclared_outputs(model)


@model_rule(
    feature="io:output",
    versions="trt",
    severity=REJECT,
    text=_OUTPUT,
    source="ModelImporter.cpp:582 (8.6.1)",
)
def output_type(model: Model, target: Target) -> list[Answer]:
    """TensorRT does not support the element type of a graph output."""
    if target.io_dtypes is None:
        return []
    found: list[Answer] = []
    for tensor in model.graph.outputs:
        name = type_name(tensor.elem_type) if isinstance(tensor, Constant) else _io_type(tensor)
        if name not in target.io_dtypes and name != "unknown":
            found.append(
                Yes(
                    feature=f"io:{name}-output",
                    message=f"TensorRT does not support {name} of graph output {tensor.name}",
                )
            )
    return found


@model_rule(
    feature="rank:input",
    versions="trt",
    severity=REJECT,
    text="Assertion failed: convertOnnxDims(onnxDtype.shape().dim(), trt_dims, namedDims) && "
    '"Failed to convert ONNX dimensions to TensorRT dimensions."',
    source="ModelImporter.cpp:295, onnx_utils.hpp:62 (8.6.1): Dims::MAX_DIMS is 8",
)
def input_rank(model: Model, target: Target) -> list[Answer]:
    """TensorRT supports graph inputs of at most eight dimensions."""
    return [
        Yes(
            feature=f"rank:input.{len(tensor.shape)}",
            message=f"TensorRT supports 8 dimensions; input {tensor.name} has {len(tensor.shape)}",
        )
        for tensor in given_inputs(model)
        if tensor.shape is not None and len(tensor.shape) > 8
    ]


@model_rule(
    feature="dtype:initializer",
    versions="trt",
    severity=REJECT,
    text=_INITIALIZER,
    source="onnx2trt_utils.cpp:748, ModelImporter.cpp:130 (8.6.1)",
)
def initializer_type(model: Model, target: Target) -> list[Answer]:
    """TensorRT does not support an initializer of this element type."""
    taken = weight_types(target)
    found: dict[str, str] = {}
    for root in model.roots() if target.functions else (model.graph,):
        for graph in read_graphs(engine_of(target.family), root):
            for constant in graph.initializers:
                name = type_name(constant.elem_type)
                if name not in taken:
                    found.setdefault(name, constant.name)
    return [
        Yes(
            feature=f"dtype:{name}",
            message=f"TensorRT does not support {name} of initializer {first}",
            text=f"Found unsupported datatype when importing initializer: {first}\n{_INITIALIZER}",
        )
        for name, first in found.items()
    ]


@model_rule(
    feature="form:sparse-initializer",
    versions="trt",
    severity=REJECT,
    text='Assertion failed: (ctx->tensors().count(inputName)) && "Node input was not registered."',
    source="ModelImporter.cpp:125-160 (8.6.1): sparse_initializer is never read",
)
def sparse_initializer(model: Model, target: Target) -> list[Answer]:
    """TensorRT does not read sparse initializers; their users find no input."""
    return [
        f"sparse initializer {constant.name} is not read, so that its users find no input"
        for graph in model.graph.walk()
        for constant in graph.initializers
        if constant.outputs
        and not constant.overridable
        and isinstance(constant.weights.proto, SparseTensorProto)
    ]


@model_rule(
    feature="form:outputs.same-name",
    versions="trt",
    severity=REJECT,
    text='Assertion failed: toposort(graph.node(), &topoOrder) && "Failed to sort the model '
    'topologically."',
    source="toposort.hpp:76-84 (8.6.1): every output name is put into a map, empty ones too",
)
def same_output_names(model: Model, target: Target) -> list[Answer]:
    """TensorRT requires unique output names in a graph, those of omitted outputs included."""
    found: list[Answer] = []
    for graph in model.graph.walk():
        seen: set[str] = set()
        for node in graph.nodes:
            for tensor in node.outputs:
                if tensor.name in seen:
                    found.append(_same_name(tensor.name, NodeView(node)))
                seen.add(tensor.name)
    return found[:1]


def _same_name(name: str, node: NodeView) -> Yes:
    if name:
        return Yes(
            feature="model:duplicate-name",
            message=f"TensorRT requires unique names; two nodes write {name}",
            text=f"ERROR: Output name is not unique: {name}",
            node=node,
        )
    return Yes(
        message="TensorRT requires unique output names, and more than one output is omitted: "
        "they share the empty name",
        node=node,
    )


@model_rule(
    feature="io:constant-output",
    versions="trt",
    severity=BUILDER,
    text="Network must have at least one output",
    source="ModelImporter.cpp:572 (8.6.1); NVIDIA/TensorRT issues 814, 1731",
)
def no_outputs(model: Model, target: Target) -> Answer:
    """TensorRT requires at least one graph output."""
    return not model.graph.outputs
