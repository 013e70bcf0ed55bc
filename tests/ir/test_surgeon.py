"""Models as onnx-graphsurgeon's graph, and back: what it forgets comes back, weights stay lazy."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, checker, numpy_helper, parser
from onnx import save as save_proto  # pyright: ignore[reportUnknownVariableType]

import graphfix
from graphfix import InvalidModel, from_graphsurgeon, to_graphsurgeon
from graphfix.testing import outputs_of

TEXT = """
<ir_version: 10, opset_import: ["" : 18, "my" : 1], producer_name: "maker">
g (float[N,4] x, bool c) => (float[N,4] y, float[N,4] z)
<float[4] w = {1, 2, 3, 4}>
{
  [first] h = Abs (x)
  [second] y = my.twice (h)
  [third] z = If (c) <
    then_branch = a () => (float[N,4] t) { [inner] t = Mul (h, w) },
    else_branch = b () => (float[N,4] e) { e = Neg (h) }
  >
}
<domain: "my", opset_import: ["" : 18]>
twice (a) => (b) { [add] b = Add (a, a) }
"""


def documented() -> ModelProto:
    """Return the model with all that onnx-graphsurgeon forgets."""
    proto = parser.parse_model(TEXT)
    proto.metadata_props.add(key="author", value="me")
    proto.doc_string = "a model"
    graph = proto.graph
    graph.metadata_props.add(key="graph", value="g")
    graph.quantization_annotation.add(tensor_name="h")
    graph.input[0].doc_string = "an input"
    graph.input[0].type.tensor_type.shape.dim[0].denotation = "DATA_BATCH"
    graph.node[0].doc_string = "the first"
    graph.node[0].metadata_props.add(key="node", value="n")
    graph.node[2].attribute[0].doc_string = "a branch"
    graph.node[2].attribute[0].g.node[0].doc_string = "inside"
    proto.functions[0].doc_string = "doubles"
    proto.functions[0].node[0].doc_string = "adds"
    return proto


def test_what_is_handed_out_is_a_real_graph_and_what_no_one_edits_comes_back_as_it_was() -> None:
    model = graphfix.load(documented())
    graph = to_graphsurgeon(model)
    assert isinstance(graph, import_module("onnx_graphsurgeon").Graph)
    assert [node.op for node in graph.nodes] == ["Abs", "twice", "If"]
    assert from_graphsurgeon(graph, model).to_proto() == model.to_proto()


def test_edits_are_rolled_back_next_to_all_that_was_not_edited() -> None:
    model = graphfix.load(documented())
    graph = to_graphsurgeon(model)
    graph.nodes[0].op = "Relu"
    graph.inputs[0].name = "image"
    edited = from_graphsurgeon(graph, model).to_proto()
    checker.check_model(edited, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    assert [info.name for info in edited.graph.input] == ["image", "c"]
    assert edited.graph.node[0].op_type == "Relu"
    assert edited.graph.node[0].doc_string == "", "said of another operator"
    assert edited.graph.node[2] == model.proto.graph.node[2]
    assert edited.functions[0] == model.proto.functions[0]
    assert (edited.producer_name, edited.doc_string) == ("maker", "a model")
    x = np.array([[-1, 2, -3, 4]], dtype=np.float32)
    outputs = outputs_of(edited, {"image": x, "c": np.array(True)})
    assert outputs["y"].tolist() == [[0, 4, 0, 8]]
    assert outputs["z"].tolist() == [[0, 4, 0, 16]]


def test_the_model_that_was_handed_out_stays_as_it_is() -> None:
    model = graphfix.load(documented())
    before = model.to_proto()
    graph = to_graphsurgeon(model)
    graph.tensors()["h"].name = "hidden"
    graph.nodes[0].attrs["axis"] = 1
    assert model.to_proto() == before


def test_weights_outside_the_file_are_read_from_the_folder_of_the_model(tmp_path: Path) -> None:
    proto = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[3] x) => (float[3] y)'
        "<float[3] w = {5, 6, 7}> { y = Add (x, w) }"
    )
    proto.graph.initializer[0].CopyFrom(
        numpy_helper.from_array(np.array([5, 6, 7], dtype=np.float32), "w")
    )
    save_proto(proto, tmp_path / "m.onnx", save_as_external_data=True, size_threshold=0)
    model = graphfix.load(tmp_path / "m.onnx")
    graph = to_graphsurgeon(model)
    assert graph.tensors()["w"].values.tolist() == [5, 6, 7]
    back = to_graphsurgeon(graphfix.load(tmp_path / "m.onnx"))
    assert from_graphsurgeon(back, model).to_proto() == model.to_proto()
    external = from_graphsurgeon(back, model).graph.initializers[0].weights.proto
    assert isinstance(external, TensorProto)
    assert external.data_location == TensorProto.EXTERNAL


def test_functions_that_differ_by_their_overload_are_distinguished() -> None:
    proto = documented()
    proto.functions.add().CopyFrom(proto.functions[0])
    proto.functions[1].overload = "other"
    proto.functions[1].node[0].op_type = "Mul"
    proto.graph.node[1].overload = "other"
    model = graphfix.load(proto)
    graph = to_graphsurgeon(model)
    assert [function.name for function in graph.functions] == ["twice", "twice:other"]
    assert graph.nodes[1].op == "twice:other"
    assert from_graphsurgeon(graph, model).to_proto() == model.to_proto()
    graph.nodes[1].op = "twice"
    assert from_graphsurgeon(graph, model).to_proto().graph.node[1].overload == ""


def test_a_graph_that_uses_what_nothing_computes_is_named_as_such() -> None:
    model = graphfix.load(documented())
    graph = to_graphsurgeon(model)
    graph.nodes[0].outputs.clear()
    with pytest.raises(InvalidModel, match="'h'"):
        from_graphsurgeon(graph, model)
