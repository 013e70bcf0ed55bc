"""A node with what it gets in its model, as a model of its own."""

from __future__ import annotations

import numpy as np
from onnx import checker, numpy_helper

from graphfix.analysis.inference import infer_model
from graphfix.engines.answer_examples import example_of
from graphfix.engines.node_alone import model_of
from graphfix.engines.node_forms import form_text, sizes_text
from graphfix.ir.views import NodeView
from graphfix.pipeline.model_files import as_model
from graphfix.testing import parse

MODEL = """<ir_version: 8, opset_import: ["": 13]>
g (float[1, 2, 6, N] x, bool c) => (float[1, 4, H, W] y, float[1, 4, H, W] z)
<float[4, 2, 3, 3] w, float[4] b = {1, -2, 3, 4}>
{
  a = Relu (x)
  k = Conv <pads = [1, 1, 1, 1]> (a, w, b)
  y = Resize <mode = "nearest"> (k, , s2)
  s = Constant <value_floats = [1.0, 1.0, 2.0, 2.0]> ()
  z = If (c) <then_branch = t () => (float[1, 4, H, W] p) { p = Identity (k) },
    else_branch = e () => (float[1, 4, H, W] q) { q = Neg (k) }>
}""".replace("s2", "s")


SMALL = """<ir_version: 8, opset_import: ["": 13]>
g (float[2, 3] x) => (float[2, 3] y) { [first] a = Relu (x) [second] y = Add (a, x) }"""


def named() -> dict[str, NodeView]:
    proto = parse(MODEL.replace("<float[4, 2, 3, 3] w, ", "<"))
    weights = np.arange(72, dtype=np.float32).reshape(4, 2, 3, 3)
    proto.graph.initializer.append(numpy_helper.from_array(weights, "w"))
    nodes = sorted(proto.graph.node, key=lambda node: node.op_type != "Constant")
    del proto.graph.node[:]
    proto.graph.node.extend(nodes)
    model = as_model(proto)
    infer_model(model)
    return {node.op: NodeView(node) for node in model.graph.nodes}


def test_it_has_the_form_the_sizes_and_the_constants_of_the_node() -> None:
    for op in ("Relu", "Conv", "Resize"):
        node = named()[op]
        proto = model_of(node)
        assert proto is not None
        checker.check_model(proto, full_check=True)  # pyright: ignore[reportUnknownMemberType]
        model = as_model(proto)
        infer_model(model)
        alone = NodeView(model.graph.nodes[-1])
        assert (form_text(alone), sizes_text(alone)) == (form_text(node), sizes_text(node))
    proto = model_of(named()["Conv"])
    assert proto is not None
    assert [info.name for info in proto.graph.input] == ["i0"]
    weights, bias = (numpy_helper.to_array(each) for each in proto.graph.initializer)
    assert weights.sum() == np.arange(72).sum()
    assert bias.tolist() == [1, -2, 3, 4]


def test_the_model_that_it_is_cut_out_of_stays_as_it_is() -> None:
    model = as_model(parse(SMALL))
    infer_model(model)
    before = model.proto.SerializeToString(), model.to_proto().SerializeToString()
    for node in model.graph.nodes:
        assert model_of(NodeView(node)) is not None
    assert (model.proto.SerializeToString(), model.to_proto().SerializeToString()) == before


def test_what_exporters_write_next_to_a_node_is_left_out() -> None:
    proto = parse(SMALL)
    proto.graph.node[0].ClearField("domain")
    proto.graph.node[0].overload = ""
    proto.graph.node[0].doc_string = "File model.py, line 7"
    proto.graph.node[0].metadata_props.add(key="namespace", value="Net/relu")
    model = as_model(proto)
    infer_model(model)
    said = example_of(NodeView(model.graph.nodes[0]))
    assert said == "13 (float[2,3] i0) => (float[2,3] o0) { o0 = Relu (i0) }"


def test_what_reads_what_is_around_it_is_not_cut_out() -> None:
    assert model_of(named()["If"]) is None
