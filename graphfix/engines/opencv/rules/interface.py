"""Inputs and outputs of the graph, and types that OpenCV gives all tensors."""

from __future__ import annotations

from graphfix.engines.common_rules import (
    empty_outputs,
    weights_in_files,
)
from graphfix.engines.opencv.rules.importing import is_known_at_import
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, Yes, model_rule
from graphfix.engines.rule_makers import ignores_sparse_initializers, makes_even_parts_only
from graphfix.engines.stored_numbers import misreads_numbers_in_32_bits
from graphfix.ir.graph import Variable
from graphfix.ir.model import Model
from graphfix.ir.views import Value


@model_rule(
    feature="io:no-shape",
    severity=REJECT,
    text="tensor.has_shape() in function 'parseValueInfo'",
    source="onnx_importer.cpp:332 (4.10.0), onnx_importer2.cpp:745 (5.0.0); measured",
)
def end_without_shape(model: Model, target: Target) -> list[Answer]:
    """OpenCV requires a declared shape for each graph input and output."""
    ends = (*model.graph.inputs, *model.graph.outputs)
    return [
        Yes(message=f"OpenCV requires a declared shape; {end.name} has none")
        for end in ends
        if isinstance(end, Variable) and end.opaque is None and _is_bare(end)
    ]


def _is_bare(end: Variable) -> bool:
    return end.info is not None and not end.info.type.tensor_type.HasField("shape")


@model_rule(
    feature="io:constant-output",
    versions="..opencv4.10",
    severity=REJECT,
    text="can't find layer for output name",
    source="onnx_importer.cpp:907 (4.10.0); measured",
)
def constant_output(model: Model, target: Target) -> list[Answer]:
    """OpenCV does not support a graph output that is constant."""
    ends = (Value(end) for end in model.graph.outputs if isinstance(end, Variable))
    return [
        Yes(message=f"OpenCV does not support the constant output {end.name}")
        for end in ends
        if is_known_at_import(end)
    ]


@model_rule(
    feature="io:unused-input",
    versions="..opencv4.10",
    severity=REJECT,
    text="inputs.size() == requiredOutputs in function 'getMemoryShapes'",
    source="layer_internals.hpp:309 (4.10.0); measured on 4.8.1 and 4.10.0",
)
def unused_input(model: Model, target: Target) -> list[Answer]:
    """OpenCV does not support a graph input that no layer reads, or whose shape alone is read."""
    ends = (Value(end) for end in model.graph.inputs if isinstance(end, Variable))
    return [
        Yes(message=f"OpenCV does not support the unused input {end.name}")
        for end in ends
        if end.is_tensor and not end.is_graph_output and not _is_read(end)
    ]


def _is_read(end: Value) -> bool:
    return any(user.op not in ("Shape", "Size") for user in end.consumers)


NUMBERS_IN_32_BITS = misreads_numbers_in_32_bits(
    wrong=frozenset(),
    refused=frozenset({"bool"}),
    versions="opencv5.0..",
    source="measured on 5.0.0: an initializer and a Constant; other types and raw_data are equal",
    text="SIGSEGV",
)

EVEN_PARTS = makes_even_parts_only(
    versions="..opencv4.10",
    severity=REJECT,
    text="splits > 0 && inpShape[axis_rw] % splits == 0 in function 'getMemoryShapes'",
    source="measured on 4.10.0; modules/dnn/src/layers/slice_layer.cpp",
)

SPARSE_INITIALIZER = ignores_sparse_initializers(
    versions="opencv",
    source="measured on 4.10.0 and 5.0.0: the input that it stands for has nothing in it",
    text="inp.total() in function 'allocateLayers'",
)


@model_rule(
    feature="io:empty-output",
    severity=REJECT,
    source="measured on 4.8.1, 4.10.0 and 5.0.0: a Slice of nothing is refused, or forward gives"
    " nothing for it; what is made of an empty input is right",
)
def empty_output(model: Model, target: Target) -> list[Answer]:
    """OpenCV does not support a graph output without elements, unless inputs are empty too."""
    given = (Value(end) for end in model.graph.inputs if isinstance(end, Variable))
    return [] if any(_is_empty(end) for end in given) else empty_outputs(model)


def _is_empty(end: Value) -> bool:
    return 0 in (end.static_shape or ())


@model_rule(
    feature="io:no-layers",
    versions="..opencv4.10",
    severity=REJECT,
    text="the net is empty",
    source="measured on 4.10.0 with a graph whose output is its initializer",
)
def no_layers(model: Model, target: Target) -> Answer:
    """OpenCV requires a graph with at least one node."""
    return not model.graph.nodes


@model_rule(
    feature="form:external-data",
    versions="..opencv4.10",
    severity=REJECT,
    source="measured on 4.8.1 and 4.10.0: such weights are empty; 5.0.0 reads them",
)
def external_data(model: Model, target: Target) -> Answer:
    """OpenCV 4 does not read external data files."""
    return weights_in_files(model)
