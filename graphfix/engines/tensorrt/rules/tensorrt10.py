"""What the parser began to refuse with 10.0: onnx-tensorrt, release/10.0-GA and release/10.1-GA."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, Yes, model_rule, rule
from graphfix.engines.tensorrt.rules.parsed import engine_type, opset_of, type_finding
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView


@rule(
    ("ReduceMax", "ReduceMin", "ReduceMean", "ReduceProd", "ReduceSum"),
    feature="dtype:Reduce.bool",
    versions="trt10.0..",
    severity=REJECT,
    text="Found unsupported input type of BOOL",
    source="importerUtils.cpp: reduceTensor (10.1)",
)
def reduce_of_bool(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support {op} of bool."""
    data = node.need(0)
    found = engine_type(data, target)
    if not found:
        # Only these two take bool in the standard, from opset 20 on.
        possible = node.op in ("ReduceMax", "ReduceMin") and opset_of(node) >= 20
        return Unknown(f"dtype of {data.name}") if possible else None
    return found == "bool" and type_finding(node, data)


@rule(
    "Split",
    feature="form:Split.uneven",
    versions="trt10.0..",
    severity=REJECT,
    text="Assertion failed: sizeSliceAxisLastOne[0] >= 0: The last chunk size is negative, see "
    "details in https://github.com/onnx/onnx/issues/5766",
    source="onnxOpImporters.cpp:5549-5560 (10.1)",
)
def split_last_chunk(node: NodeView, target: Target) -> Answer:
    """TensorRT cannot Split into equal rounded-up parts if the last one would be negative."""
    given = node.input(1) is not None if opset_of(node) >= 13 else "split" in node.attributes
    size = node.need(0).dim(int(node.attr("axis", 0)))
    if given or size is None:
        return None
    count = len(node.node.outputs)
    return size - (size + count - 1) // count * (count - 1) < 0


@rule(
    "Split",
    feature="form:Split.num_outputs",
    versions="trt10.0..",
    severity=REJECT,
    text="Either 'split' should be provided as an input or 'num_outputs' should be provided as an "
    "attribute. But not both.",
    source="onnxOpImporters.cpp:5521-5547 (10.1)",
)
def split_twice(node: NodeView, target: Target) -> Answer:
    """TensorRT requires either sizes or num_outputs of Split, equal to its output count."""
    parts = node.attr("num_outputs")
    if opset_of(node) < 18 or parts is None:
        return None
    if node.input(1) is not None:
        return True
    return int(parts) != len(node.node.outputs) and Yes(
        text="The number of node outputs is not the same as the value of 'num_outputs' attribute."
    )


@model_rule(
    feature="form:function.inputs",
    versions="trt10.1..",
    severity=REJECT,
    text="LocalFunction has an unexpected number of inputs!",
    source="onnxOpImporters.cpp: importLocalFunctionImporter (10.1), onnxOpCheckers.cpp",
)
def function_inputs(model: Model, target: Target) -> list[Answer]:
    """TensorRT requires all inputs of a local function call, and one is missing."""
    if not target.functions or not model.functions:
        return []
    wanted = {function.key: len(function.inputs) for function in model.functions}
    found: list[Answer] = []
    for node in model.nodes():
        count = wanted.get((node.domain or "", node.op, node.overload))
        if count is not None and count != len(node.inputs):
            message = f"TensorRT requires all inputs of the local function {node.op}: {count}"
            found.append(
                Yes(message=f"{message}; the call has {len(node.inputs)}", node=NodeView(node))
            )
    return found
