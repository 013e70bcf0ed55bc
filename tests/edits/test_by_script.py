"""`with graphfix.edit(model) as graph`: a real graph out, a valid model back, or nothing new."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import AttributeProto, ModelProto, TensorProto, checker, helper, numpy_helper, parser

import graphfix
from graphfix import InvalidModel, UsageError
from graphfix.testing import outputs_of
from tests.fidelity_models import MAKERS

gs: Any = import_module("onnx_graphsurgeon")
NET = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 3, 4, 4] x) => (float[1, 10] y)
<float[2, 3, 1, 1] k = {1, 2, 3, -1, 0.5, 4}, int64[2] flat = {1, 32}, float[32, 10] w>
{
  [conv] c = Conv (x, k)
  [flat] f = Reshape (c, flat)
  [last] y = MatMul (f, w)
}
"""


def net() -> graphfix.Model:
    """Return a small network with a baked batch of 1."""
    proto = parser.parse_model(NET.replace(", float[32, 10] w>", ">"))
    weights = np.linspace(-1, 1, 320, dtype=np.float32).reshape(32, 10)
    proto.graph.initializer.append(numpy_helper.from_array(weights, "w"))
    proto.graph.value_info.append(
        helper.make_tensor_value_info("c", TensorProto.FLOAT, [1, 2, 4, 4])
    )
    proto.graph.value_info[0].doc_string = "features"
    proto.graph.node[2].doc_string = "the head"
    proto.metadata_props.add(key="author", value="me")
    return graphfix.load(proto)


def shape(model: graphfix.Model, name: str) -> list[int | str]:
    """Return the declared shape of an output or inner tensor."""
    graph = model.to_proto().graph
    (info,) = [i for i in (*graph.output, *graph.value_info) if i.name == name]
    return [dim.dim_param or dim.dim_value for dim in info.type.tensor_type.shape.dim]


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_what_no_one_touches_comes_back_as_it_was(name: str) -> None:
    model = graphfix.load(MAKERS[name]())
    before = model.to_proto()
    with graphfix.edit(model) as graph:
        assert isinstance(graph, gs.Graph)
    assert model.to_proto() == before


def test_the_model_is_what_was_made_of_it_and_the_rest_is_as_it_was() -> None:
    model = net()
    before = model.to_proto()
    with graphfix.edit(model) as graph:
        graph.nodes[0].attrs["dilations"] = [1, 1]
    after = model.to_proto()
    assert [a.name for a in after.graph.node[0].attribute] == ["dilations"]
    del after.graph.node[0].attribute[:]
    assert after == before


def test_a_freed_size_is_declared_wherever_it_goes() -> None:
    model = net()
    with graphfix.edit(model) as graph:
        graph.inputs[0].shape[0] = "N"
        graph.tensors()["flat"].values = np.array([-1, 32])
    assert shape(model, "c") == ["N", 2, 4, 4]
    assert shape(model, "y")[1:] == [10]
    assert shape(model, "y")[0] != 1
    x = np.ones((3, 3, 4, 4), np.float32)
    assert outputs_of(model.to_proto(), {"x": x})["y"].shape == (3, 10)
    kept = model.to_proto()
    assert kept.graph.value_info[0].doc_string == "features"
    assert kept.graph.node[2].doc_string == "the head"


def test_types_are_inferred_and_nodes_put_in_order() -> None:
    model = net()
    with graphfix.edit(model) as graph:
        out = gs.Variable("probabilities")
        graph.nodes.insert(0, gs.Node("Softmax", "soft", inputs=[graph.outputs[0]], outputs=[out]))
        graph.outputs = [out]
    proto = model.to_proto()
    checker.check_model(proto, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    assert [node.op_type for node in proto.graph.node] == ["Conv", "Reshape", "MatMul", "Softmax"]
    assert shape(model, "probabilities") == [1, 10]
    assert proto.graph.output[0].type.tensor_type.elem_type == TensorProto.FLOAT


def test_layers_are_put_in_with_what_is_made_for_them() -> None:
    model = net()
    with graphfix.edit(model) as graph:
        (out,) = graph.layer(
            op="Mul", inputs=[graph.outputs[0], np.array(2, np.float32)], outputs=["twice"]
        )
        graph.outputs = [out]
    x = np.ones((1, 3, 4, 4), np.float32)
    (twice,) = outputs_of(model.to_proto(), {"x": x}).values()
    assert np.allclose(twice, 2 * outputs_of(net().to_proto(), {"x": x})["y"])


def refused(change: Callable[[Any], None], error: type[Exception], match: str) -> None:
    """Assert that a change ends in an error, and that the model is as it was."""
    model = net()
    before = model.to_proto()

    def surgery() -> None:
        with graphfix.edit(model) as graph:
            change(graph)

    with pytest.raises(error, match=match):
        surgery()
    assert model.to_proto() == before


def test_what_is_invalid_is_reported_with_the_node_and_changes_nothing() -> None:
    def five_sides(graph: Any) -> None:
        graph.nodes[0].attrs["kernel_shape"] = [1, 1, 1, 1, 1]

    def without_reshape(graph: Any) -> None:
        del graph.nodes[1]

    refused(five_sides, InvalidModel, r"^Conv 'conv': .*kernel_shape")
    refused(without_reshape, InvalidModel, r"'last'.*'f'")


def test_an_output_of_unknown_type_is_reported_with_its_maker() -> None:
    def foreign(graph: Any) -> None:
        out = gs.Variable("z")
        node = gs.Node("Thing", "own", inputs=graph.outputs, outputs=[out], domain="acme")
        graph.nodes.append(node)
        graph.outputs = [out]

    refused(foreign, InvalidModel, r"^Thing 'own': the type of output 'z' is not known")


def test_a_block_that_raises_changes_nothing() -> None:
    def fails(graph: Any) -> None:
        graph.nodes.clear()
        raise KeyError("mine")

    refused(fails, KeyError, "mine")


def test_only_a_loaded_model_is_edited(tmp_path: Path) -> None:
    path: Any = tmp_path / "m.onnx"
    with pytest.raises(UsageError, match=r"not a \w+Path.*graphfix\.load"):
        graphfix.edit(path).__enter__()


def test_an_empty_model_is_filled() -> None:
    model = graphfix.Model.empty(opset=17)
    with graphfix.edit(model) as graph:
        graph.inputs = [gs.Variable("x", np.float32, ("N", 2))]
        graph.outputs = graph.layer(op="Neg", inputs=graph.inputs, outputs=["y"])
    assert shape(model, "y_0") == ["N", 2]
    x = np.array([[1, -2]], np.float32)
    assert outputs_of(model.to_proto(), {"x": x})["y_0"].tolist() == [[-1, 2]]


def test_overridable_defaults_stay_inputs_where_inputs_are_moved() -> None:
    proto = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[2] a, float[2] w, float[2] b)'
        " => (float[2] y) <float[2] w = {5, 6}> { t = Add (a, w) y = Sub (t, b) }"
    )
    model = graphfix.load(proto)
    with graphfix.edit(model) as graph:
        graph.nodes[1].op = "Mul"
    assert [info.name for info in model.to_proto().graph.input] == ["a", "w", "b"]
    with graphfix.edit(model) as graph:
        graph.inputs.reverse()
    assert [info.name for info in model.to_proto().graph.input] == ["b", "a", "w"]


def test_before_ir_4_new_constants_are_inputs_too() -> None:
    proto = parser.parse_model(
        '<ir_version: 3, opset_import: ["" : 9]> g (float[2] a) => (float[2] y) { y = Neg (a) }'
    )
    model = graphfix.load(proto)
    with graphfix.edit(model) as graph:
        two = gs.Constant("two", np.array([2, 3], np.float32))
        graph.nodes[0].op, graph.nodes[0].inputs = "Add", [graph.inputs[0], two]
    after = model.to_proto()
    checker.check_model(after, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    assert [info.name for info in after.graph.input] == ["a", "two"]


def bytes_model() -> ModelProto:
    """Return a model of one foreign node with attributes that onnx-graphsurgeon cannot carry."""
    node = helper.make_node("Thing", ["x"], ["y"], "own", domain="acme")
    node.attribute.append(helper.make_attribute("raw", b"\xff\x00"))
    node.attribute.append(AttributeProto(name="none", type=AttributeProto.INTS))
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in "xy"]
    graph = helper.make_graph([node], "g", ends[:1], ends[1:])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("acme", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def test_attributes_that_are_not_carried_go_along_with_what_bears_them() -> None:
    model = graphfix.load(bytes_model())
    with graphfix.edit(model) as graph:
        old = graph.nodes[0]
        assert old.attrs["raw"].startswith("graphfix:opaque:")
        out = gs.Variable("z", np.float32, (2,))
        graph.nodes.append(
            gs.Node(
                "Thing", "other", {"bytes": old.attrs["raw"]}, old.outputs, [out], domain="acme"
            )
        )
        graph.outputs = [out]
    first, second = model.to_proto().graph.node
    assert first == bytes_model().graph.node[0]
    assert (second.attribute[0].name, second.attribute[0].s) == ("bytes", b"\xff\x00")
