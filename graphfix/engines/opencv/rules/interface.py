"""Inputs and outputs of the graph, and types that OpenCV gives all tensors."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.authoring.views import NodeView, Value
from graphfix.engines.opencv.rules.importing import (
    is_computed_at_import,
    is_known_at_import,
)
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, model_rule, rule
from graphfix.graph import Variable
from graphfix.model import Model


@model_rule(
    feature="io:no-shape",
    versions="opencv",
    severity=REJECT,
    text="tensor.has_shape() in function 'parseValueInfo'",
    source="onnx_importer.cpp:332 (4.10.0), onnx_importer2.cpp:745 (5.0.0); measured",
)
def end_without_shape(model: Model, target: Target) -> list[Answer]:
    """An input or output of the graph is declared without a shape."""
    ends = (*model.graph.inputs, *model.graph.outputs)
    return [
        Yes(message=f"{end.name} is declared without a shape")
        for end in ends
        if isinstance(end, Variable) and end.opaque is None and _is_bare(end)
    ]


def _is_bare(end: Variable) -> bool:
    return end.info is not None and not end.info.type.tensor_type.HasField("shape")


@rule(
    feature="dtype:float64",
    versions="opencv5.0..",
    severity=REJECT,
    text="All inputs should have equal types",
    source="nary_eltwise_layers.cpp:433 (5.0.0); measured: constants of float64 become float32",
)
def float64_constant(node: NodeView, target: Target) -> Answer:
    """A constant of float64 is read as float32, which does not fit what it is computed with."""
    return any(
        value is not None and value.type_name == "float64" and value.is_constant
        for value in node.inputs
    )


@rule(
    "Shape",
    feature="shape:Shape.dynamic",
    versions="..opencv4.10",
    severity=REJECT,
    text="!isDynamicShape in function 'parseShape'",
    source="onnx_importer.cpp:2439 (4.10.0); measured",
)
def shape_of_open_sizes(node: NodeView, target: Target) -> Answer:
    """The shape of a tensor is asked for whose sizes are not fixed; --shape fixes them."""
    data = node.input(0)
    return data is None or data.static_shape is None


@rule(
    feature="dtype:{op}.bool",
    versions="..opencv4.10",
    severity=REJECT,
    text="Unsupported data type: BOOL in function 'getMatFromTensor'",
    source="onnx_graph_simplifier.cpp:1862 (4.10.0); measured",
)
def bool_constant(node: NodeView, target: Target) -> Answer:
    """A constant of bools is refused."""
    if any(v is not None and v.type_name == "bool" and v.is_constant for v in node.inputs):
        return Yes(feature=f"dtype:{node.op}.bool")
    return False


@rule(
    feature="rank:{op}.1",
    versions="..opencv4.10",
    severity=WRONG,
    source="measured on 4.8.1 and 4.10.0: [5] - constant [5] gives [5,5]; a vector is a column",
)
def vector_with_another(node: NodeView, target: Target) -> Answer:
    """A vector meets another tensor, for which OpenCV 4 takes it as a column."""
    if node.op not in _BROADCASTING or len(node.inputs) < 2 or is_computed_at_import(node):
        return False
    ranks = [v.rank for v in node.inputs if v is not None]
    if 1 not in ranks:
        return False
    if None in ranks:
        return Unknown("the rank of an operand")
    own = {(v.is_constant, v.rank) for v in node.inputs if v is not None}
    sizes = [v.static_shape for v in node.inputs if v is not None and v.rank == 1]
    if all(size == (1,) for size in sizes):
        return False
    if own == {(False, 1)}:
        return False
    if own in ({(True, 1), (False, r)} for r in ranks if r != 1):
        return False
    vectors = own - {(True, 0)}
    return vectors not in ({(False, 1)}, {(True, 1)}) and Yes(feature=f"rank:{node.op}.1")


_BROADCASTING = frozenset({
    "Add", "And", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Mean",
    "Min", "Mod", "Mul", "Or", "Pow", "Sub", "Sum", "Where", "Xor",
})  # fmt: skip


@rule(
    "Gather",
    feature="rank:Gather.1",
    versions="..opencv4.10",
    severity=WRONG,
    source="measured on 4.10.0: an input [3] of indices gives [3,1,2] for [3,2]",
)
def gather_by_vector(node: NodeView, target: Target) -> Answer:
    """Indices that are a computed vector are taken as a column."""
    indices = node.input(1)
    if indices is None or is_known_at_import(indices):
        return False
    return indices.rank == 1


@model_rule(
    feature="io:constant-output",
    versions="..opencv4.10",
    severity=REJECT,
    text="can't find layer for output name",
    source="onnx_importer.cpp:907 (4.10.0); measured",
)
def constant_output(model: Model, target: Target) -> list[Answer]:
    """An output of the graph is a constant, of which OpenCV makes no layer."""
    ends = (Value(end) for end in model.graph.outputs if isinstance(end, Variable))
    return [Yes(message=f"{end.name} is a constant") for end in ends if is_known_at_import(end)]
