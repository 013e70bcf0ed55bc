"""Tests that answers are kept with a graph, and that no edit leaves an old one."""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np
import onnx.parser
import pytest

from graphfix.analysis.inference import infer_model
from graphfix.analysis.memo import answers_about, kept, kept_stepwise
from graphfix.authoring.applying import attach_node, remove_producers
from graphfix.authoring.workspace import Workspace
from graphfix.ir.graph import Constant, Graph, Node, Variable
from graphfix.ir.importing import sort_graph
from graphfix.ir.model import Model
from graphfix.ir.schemas import Attributes
from graphfix.ir.views import NodeView, Value
from graphfix.opset.snapshot import Snapshot

_MODEL = """
<ir_version: 8, opset_import: ["" : 17]>
agraph (float[2, N] x) => (float[2, N] y) <float[2] w = {1.0, 2.0}, int64[1] axes = {0}>
{
  a = Relu(x)
  b = Unsqueeze(w, axes)
  c = Transpose <perm = [1, 0]> (b)
  y = Mul(a, c)
}
"""


def _model() -> Model:
    return Model(onnx.parser.parse_model(_MODEL))


def _text(graph: Graph) -> str:
    """Return all that analyses read of a graph."""
    nodes = [
        (n.op, n.domain, n.overload, dict(n.attrs), [*map(_named, n.inputs)]) for n in graph.nodes
    ]
    outputs = [[_named(t) for t in n.outputs] for n in graph.nodes]
    ends = [[_named(t) for t in part] for part in (graph.inputs, graph.outputs)]
    return repr((nodes, outputs, ends, [c.name for c in graph.initializers], graph.opsets))


def _named(tensor: Variable | Constant) -> object:
    value = tensor.values.tolist() if isinstance(tensor, Constant) else None
    makers, readers = [n.op for n in tensor.inputs], [n.op for n in tensor.outputs]
    return tensor.name, tensor.elem_type, tensor.shape, value, makers, readers


def _constant(model: Model) -> Constant:
    return model.graph.initializers[0]


def _relu(model: Model) -> Node:
    return model.graph.nodes[0]


def _attach_another(model: Model) -> None:
    node = Node("Neg", model.graph)
    node.hold([model.graph.inputs[0]], [Variable("z")])
    attach_node(node, model.graph)


def _set_perm(model: Model) -> None:
    model.graph.nodes[2].attrs["perm"] = [0, 1]


def _drop_perm(model: Model) -> None:
    del model.graph.nodes[2].attrs["perm"]


_EDITS: dict[str, Callable[[Model], object]] = {
    "a node is attached": _attach_another,
    "a node is detached": lambda m: _relu(m).detach(),
    "an input is replaced": lambda m: _relu(m).replace_input(0, _constant(m)),
    "all inputs are replaced": lambda m: setattr(_relu(m), "inputs", [_constant(m)]),
    "a tensor loses its producer": lambda m: remove_producers(_relu(m).outputs[0]),
    "an operator is replaced": lambda m: setattr(_relu(m), "op", "Abs"),
    "a domain is replaced": lambda m: setattr(_relu(m), "domain", "acme"),
    "an attribute is set": _set_perm,
    "an attribute is dropped": _drop_perm,
    "the attributes are replaced": lambda m: setattr(m.graph.nodes[2], "attrs", Attributes()),
    "an element type is set": lambda m: setattr(_relu(m).outputs[0], "elem_type", 10),
    "a shape is set": lambda m: setattr(_relu(m).outputs[0], "shape", (1,)),
    "types are inferred": infer_model,
    "values are replaced": lambda m: setattr(_constant(m), "values", np.zeros(2, np.float32)),
    "a constant may be overridden": lambda m: setattr(_constant(m), "overridable", True),
    "a constant is added": lambda m: m.graph.add_initializer(
        Constant.of("k", np.zeros(1, np.float32))
    ),
    "the constants are replaced": lambda m: setattr(m.graph, "initializers", []),
    "the nodes are replaced": lambda m: setattr(m.graph, "nodes", m.graph.nodes[:1]),
    "the nodes are sorted": lambda m: sort_graph(m.graph),
    "the inputs are replaced": lambda m: setattr(m.graph, "inputs", []),
    "the outputs are replaced": lambda m: m.graph.set_outputs([]),
    "an opset is set": lambda m: m.graph.set_opset("", 18),
    "a name is set": lambda m: setattr(_relu(m).outputs[0], "name", "other"),
}


@pytest.mark.parametrize("edit", _EDITS.values(), ids=_EDITS)
def test_no_edit_leaves_an_old_answer(edit: Callable[[Model], object]) -> None:
    model = _model()
    asked: list[str] = []

    @kept
    def of_graph(graph: Graph) -> str:
        asked.append("graph")
        return _text(graph)

    @kept
    def of_node(node: NodeView) -> str:
        asked.append("node")
        return _text(node.graph)

    @kept
    def of_value(value: Value) -> str:
        asked.append("value")
        return _text(model.graph)

    node, value = NodeView(_relu(model)), Value(_relu(model).outputs[0])
    constant = Value(_constant(model))
    before = [of_graph(model.graph), of_node(node), of_value(value), of_value(constant)]
    assert before == [of_graph(model.graph), of_node(node), of_value(value), of_value(constant)]
    assert asked == ["graph", "node", "value", "value"]
    edit(model)
    after = [of_graph(model.graph), of_node(node), of_value(value), of_value(constant)]
    assert asked == ["graph", "node", "value", "value"] * 2
    assert after == [_text(model.graph)] * 4
    assert before == [before[0]] * 4


def test_what_a_snapshot_brings_back_leaves_no_old_answer() -> None:
    model = _model()
    workspace = Workspace(model)

    @kept
    def text(graph: Graph) -> str:
        return _text(graph)

    snapshot, first = Snapshot.of(model, workspace), text(model.graph)
    _set_perm(model)
    assert text(model.graph) != first
    snapshot.restore()
    assert text(model.graph) == first


def test_making_parts_that_no_graph_has_yet_is_no_edit() -> None:
    model = _model()
    asked: list[int] = []

    @kept
    def count(graph: Graph) -> int:
        asked.append(1)
        return len(graph.nodes)

    count(model.graph)
    Variable("t", 1, (1,))
    Constant.of("k", np.zeros(1, np.float32))
    Node("Relu", model.graph)
    count(model.graph)
    assert asked == [1]


@kept_stepwise(in_a_loop=0)
def _depth(value: Value) -> Generator[Value, int, int]:
    maker = value.producer
    if maker is None:
        return 0
    most = 0
    for operand in maker.inputs:
        if operand is not None:
            most = max(most, (yield operand))
    return most + 1


def _chain(count: int) -> Graph:
    graph = Graph("g", {"": 17})
    tensor = Variable("x", 1, (1,))
    graph.inputs = [tensor]
    nodes: list[Node] = []
    for index in range(count):
        node, given = Node("Add", graph), Variable(f"t{index}")
        node.attach([tensor, tensor], [given])
        nodes.append(node)
        tensor = given
    graph.nodes = nodes
    graph.set_outputs([tensor])
    return graph


def test_a_way_of_any_length_is_walked_once() -> None:
    graph = _chain(20_000)
    assert _depth(Value(graph.outputs[0])) == 20_000
    middle = graph.nodes[9_999].outputs[0]
    assert len(answers_about(middle)) == 2  # the time, and what was found on the way
    assert _depth(Value(middle)) == 10_000


def test_a_loop_of_tensors_ends_and_leaves_no_answer_after() -> None:
    graph = _chain(4)
    graph.nodes[0].replace_input(1, graph.nodes[2].outputs[0])
    assert _depth(Value(graph.outputs[0])) == 4
    inner = graph.nodes[1].outputs[0]
    assert len(answers_about(inner)) == 1  # the time; the answer was found by what was not known
    assert _depth(Value(inner)) == 3


def test_what_raises_keeps_nothing() -> None:
    raised: list[str] = []

    @kept_stepwise(in_a_loop=0)
    def fails(value: Value) -> Generator[Value, int, int]:
        raised.append(value.name)
        maker = value.producer
        if maker is None:
            raise ValueError(value.name)
        return (yield maker.need(0)) + 1

    graph = _chain(2)
    for _ in range(2):
        with pytest.raises(ValueError, match="x"):
            fails(Value(graph.outputs[0]))
    assert raised == ["t1", "t0", "x"] * 2
