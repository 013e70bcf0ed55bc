"""TFLite: what subgraphs read of the graph around them, and what Loops give."""

from __future__ import annotations

from collections.abc import Iterator

from graphfix.authoring.outer_scopes import reads_of_outer_scopes
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, Yes, rule
from graphfix.engines.tflite.rules import MEASURED
from graphfix.ir.graph import Graph
from graphfix.ir.views import NodeView, Value

_FIRST_STATE = 2  # of the inputs of a Loop


@rule(
    ("If", "Loop"),
    feature="scope:outer-constant",
    versions="tflite",
    severity=REJECT,
    text="KeyError: '{name}'",
    source=f"{MEASURED}: constants that a body stores, or gives itself, are taken",
)
def constants_of_the_outer_graph(node: NodeView, target: Target) -> Answer:
    """onnx2tf does not support a subgraph of {op} that reads an outer constant."""
    for _, body in node.node.graphs():
        for _, value in reads_of_outer_scopes(body):
            if value.is_constant:
                return Yes(
                    message=f"onnx2tf: a {node.op} subgraph reads the outer constant {value.name}"
                )
    return None


@rule(
    "Loop",
    feature="scope:outer-tensor",
    versions="tflite",
    severity=REJECT,
    text="found return value of type KerasTensor, which is not a Tensor or ExtensionType",
    source=f"{MEASURED}: inputs of the graph and what nodes compute; a branch of If may",
)
def tensors_of_the_outer_graph(node: NodeView, target: Target) -> Answer:
    """onnx2tf does not support a Loop body that reads a tensor computed outside of it."""
    for _, body in node.node.graphs():
        for value in _from_outside(body):
            return Yes(message=f"onnx2tf: the Loop body reads {value.name}, which is not carried")
    return None


def _from_outside(body: Graph) -> Iterator[Value]:
    """Walk what a body and those in it read that is neither constant nor of one of them."""
    graphs = list(body.walk())
    for graph in graphs:
        for _, value in reads_of_outer_scopes(graph):
            if not value.is_constant and not any(_is_of(value, other) for other in graphs):
                yield value


def _is_of(value: Value, graph: Graph) -> bool:
    maker = value.producer
    if maker is not None:
        return maker.graph is graph
    return any(tensor is value.tensor for tensor in graph.inputs)


@rule(
    "Loop",
    feature="form:Loop.scan-outputs",
    versions="tflite",
    severity=REJECT,
    text="Cannot convert an eager-mode TensorArray",
    source=f"{MEASURED}: final states alone are taken",
)
def rounds_collected(node: NodeView, target: Target) -> Answer:
    """onnx2tf does not support scan outputs of Loop."""
    return len(node.outputs) > len(node.inputs) - _FIRST_STATE


@rule(
    ("If", "Loop"),
    feature="scope:nested-loop",
    versions="tflite",
    severity=REJECT,
    text="InaccessibleTensorError: Exception encountered when calling layer",
    source=f"{MEASURED}: facts/asked.json, control-flow-in-control-flow; an If in either is taken",
)
def loop_in_a_body(node: NodeView, target: Target) -> Answer:
    """onnx2tf does not support a Loop inside a subgraph of {op}."""
    subgraphs = [body for _, body in node.node.graphs()]
    return any(inner.op == "Loop" for body in subgraphs for inner in body.nodes)
