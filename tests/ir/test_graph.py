"""The graph: edges that stay in step, and names that may be changed."""

from __future__ import annotations

import numpy as np
from onnx import checker, parser

import graphfix
from graphfix.ir.graph import Graph, Node, Variable
from graphfix.testing import outputs_of

TEXT = """
<ir_version: 10, opset_import: ["" : 18]>
g (float[N,4] x, bool c) => (float[N,4] z)
<float[4] w = {1, 2, 3, 4}>
{
  h = Abs (x)
  z = If (c) <
    then_branch = a () => (float[N,4] t) { t = Mul (h, w) },
    else_branch = b () => (float[N,4] e) { e = Neg (h) }
  >
}
"""


def test_renamed_tensors_are_written_by_their_new_names_everywhere() -> None:
    model = graphfix.load(parser.parse_model(TEXT))
    graph = model.graph
    graph.inputs[0].name = "image"
    graph.outputs[0].name = "result"
    graph.initializers[0].name = "weights"
    graph.nodes[0].outputs[0].name = "hidden"
    proto = model.to_proto()
    checker.check_model(proto, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    assert [info.name for info in proto.graph.input] == ["image", "c"]
    assert [info.name for info in proto.graph.output] == ["result"]
    assert [tensor.name for tensor in proto.graph.initializer] == ["weights"]
    branch = proto.graph.node[1].attribute[0].g
    assert list(branch.node[0].input) == ["hidden", "weights"]
    x = np.array([[-1, 2, -3, 4]], dtype=np.float32)
    outputs = outputs_of(proto, {"image": x, "c": np.array(True)})
    assert np.asarray(outputs["result"]).tolist() == [[1, 4, 9, 16]]


def test_both_ends_of_an_edge_know_each_other_until_the_node_lets_go() -> None:
    graph = Graph("g", {"": 18})
    used, made = Variable("used"), Variable("made")
    node, other = Node("Add", graph), Node("Abs", graph)
    node.attach([used, used], [made])
    other.attach([used], [Variable("also")])
    assert used.outputs == [node, node, other]
    assert made.inputs == [node]
    node.detach()
    assert used.outputs == [other]
    assert made.inputs == []
    assert node.inputs == node.outputs == []


def test_tensors_are_what_they_are_and_not_what_they_are_called() -> None:
    assert Variable("x") != Variable("x")
    assert len({Variable("x"), Variable("x")}) == 2


def test_subgraphs_are_those_that_nodes_have_now() -> None:
    graph = graphfix.load(parser.parse_model(TEXT)).graph
    node = graph.nodes[1]
    then, other = node.attrs["then_branch"], node.attrs["else_branch"]
    assert list(graph.subgraphs()) == list(graph.subgraphs()) == [then, other]
    node.attrs["else_branch"] = fresh = Graph("fresh", graph.opsets, parent=node)
    assert list(graph.walk()) == [graph, then, fresh]
    saved = node.attrs.saved()
    del node.attrs["then_branch"]
    assert list(graph.subgraphs()) == [fresh]
    node.attrs.restore(saved)
    assert list(graph.subgraphs()) == [then, fresh]
    graph.nodes = graph.nodes[:1]
    assert not list(graph.subgraphs())
    assert list(fresh.walk()) == [fresh]
