"""TFLite: what subgraphs read of the graph around them, and what Ifs and Loops give."""

from __future__ import annotations

from collections.abc import Iterator

from graphfix.analysis.memo import inputs_of, operands, walk
from graphfix.authoring.declaring import Unknown
from graphfix.authoring.outer_scopes import reads_of_outer_scopes
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.engines.tflite.rules import MEASURED
from graphfix.ir.graph import Graph, Shape
from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import ELEMENTWISE

_FIRST_STATE = 2  # of the inputs of a Loop


@rule(
    ("If", "Loop"),
    feature="scope:outer-constant",
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
    severity=REJECT,
    text="InaccessibleTensorError: Exception encountered when calling layer",
    source=f"{MEASURED}: facts/asked.json, control-flow-in-control-flow; an If in either is taken",
)
def loop_in_a_body(node: NodeView, target: Target) -> Answer:
    """onnx2tf does not support a Loop inside a subgraph of {op}."""
    subgraphs = [body for _, body in node.node.graphs()]
    return any(inner.op == "Loop" for body in subgraphs for inner in body.nodes)


@rule(
    "If",
    feature="rank:If.cond",
    severity=WRONG,
    source=f"{MEASURED}: facts/asked.json, if-condition; ops/If.py calls switch of Keras, which is"
    " tf.cond for a scalar and tf.where otherwise",
)
def condition_with_an_axis(node: NodeView, target: Target) -> Answer:
    """onnx2tf broadcasts the results of both branches where the condition of If is no scalar."""
    condition = node.need(0)
    if condition.rank is None:
        return Unknown(f"rank of {condition.name}")
    rank = condition.rank or int(_is_of_inputs(condition, node))
    branches = dict(node.node.graphs())
    then, other = (map(Value, branches[side].outputs) for side in ("then_branch", "else_branch"))
    unknown = ""
    for one, two in zip(then, other, strict=True) if rank else ():
        sizes = one.shape, two.shape
        if sizes[0] is None or sizes[1] is None:
            unknown = unknown or one.name
        elif len(sizes[0]) < rank or not _is_broadcast(sizes[0], sizes[1]):
            return Yes(severity=REJECT, text="Dimensions must be equal")
        elif _differ(sizes[0], sizes[1]):
            return True
        elif sizes[0] != sizes[1] or None in sizes[0]:
            unknown = unknown or one.name
    return Unknown(f"whether both branches give {unknown} of one shape") if unknown else False


def _is_of_inputs(value: Value, node: NodeView) -> bool:
    """Say whether a scalar has an axis in TensorFlow: inputs have one, and what they are made to.

    Reshape, Squeeze and others that take axes away give a scalar.
    """

    def before(one: Value) -> list[Value]:
        maker = one.producer
        return operands(maker) if maker is not None and maker.op in ELEMENTWISE else []

    inputs = inputs_of(node.graph.root)
    return any(one in inputs for one in walk([value], before))


def _is_broadcast(one: Shape, two: Shape) -> bool:
    """Say whether two shapes may be brought to one."""
    ends = zip(reversed(one), reversed(two), strict=False)
    return not any(_is_other(a, b) and 1 not in (a, b) for a, b in ends)


def _differ(one: Shape, two: Shape) -> bool:
    return len(one) != len(two) or any(map(_is_other, one, two))


def _is_other(one: int | str | None, two: int | str | None) -> bool:
    return isinstance(one, int) and isinstance(two, int) and one != two
