"""Diff: nothing for the same model under other names, and each change by its name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import ModelProto, numpy_helper

from graphfix import InvalidModel, diff
from graphfix.difference.contents import CHUNK, Contents
from graphfix.difference.difference import FieldChange, Presence
from graphfix.ir.storage.reading import read_model
from tests.difference.shuffling import disguised
from tests.difference.small_models import MODELS, chain, convolution, shared, tower

FIXTURES = sorted((Path(__file__).parents[2] / "fixtures").glob("*.onnx"))


@pytest.mark.parametrize("name", list(MODELS))
def test_other_names_and_another_order_are_no_difference(name: str) -> None:
    model = MODELS[name]()
    for seed in range(5):
        found = diff(model, disguised(model, seed))
        assert found.same, found
        assert found.exit_code == 0
        assert found.matched >= len(model.graph.node)
        assert found.renamed_nodes == found.matched or name == "functions"
        ports = [*model.graph.input, *model.graph.output]
        assert len(found.renamed_interface) == len({info.name for info in ports})


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
@settings(
    max_examples=3, deadline=None, suppress_health_check=(HealthCheck.function_scoped_fixture,)
)
@given(seed=st.integers(0, 2**32))
def test_a_disguised_fixture_is_the_same(path: Path, seed: int) -> None:
    model = read_model(path).proto
    found = diff(model, disguised(model, seed))
    assert found.same, found


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_a_single_changed_weight_is_found(path: Path) -> None:
    model = read_model(path).proto
    other = disguised(model, 7)
    floats = [t for t in other.graph.initializer if t.data_type == 1 and np.prod(t.dims) > 0]
    if not floats:
        pytest.skip("the file stores no floats")
    for tensor in floats[:3]:
        changed = ModelProto()
        changed.CopyFrom(other)
        target = next(t for t in changed.graph.initializer if t.name == tensor.name)
        values = numpy_helper.to_array(target).copy()
        values.reshape(-1)[-1] += 0.25
        target.CopyFrom(numpy_helper.from_array(values, tensor.name))
        found = diff(model, changed)
        assert [w.new_name for w in found.weights] == [tensor.name]
        assert (*found.nodes, *found.removed, *found.added, *found.metadata) == ()
        statistics = found.weights[0].statistics
        assert statistics is not None
        assert statistics.differing == 1
        assert statistics.max_abs == pytest.approx(0.25, rel=1e-3)
        assert statistics.elements == values.size
        assert statistics.first == tuple(size - 1 for size in values.shape)


def test_the_weight_of_one_of_many_blocks_is_named() -> None:
    other = disguised(tower(), 1, keep_interface=True)
    before = tower()
    values = numpy_helper.to_array(before.graph.initializer[3]).copy()
    target = next(t for t in other.graph.initializer if (numpy_helper.to_array(t) == values).all())
    values[1, 2] *= 1.5
    target.CopyFrom(numpy_helper.from_array(values, target.name))
    found = diff(before, other)
    assert [(w.presence, w.name) for w in found.weights] == [(Presence.CHANGED, "w3")]
    assert [node.outputs for node in found.weights[0].used_by] == [("m3",)]
    statistics = found.weights[0].statistics
    assert statistics is not None
    assert statistics.first == (1, 2)
    assert found.renamed_interface == ()


def test_a_changed_attribute() -> None:
    other = disguised(convolution(), 2)
    node = next(n for n in other.graph.node if n.op_type == "LeakyRelu")
    node.attribute[0].f = 0.2
    found = diff(convolution(), other)
    assert [c.before.outputs for c in found.nodes] == [("y",)]
    change = FieldChange("node", "attribute alpha", "0.100000001", "0.200000003")
    assert found.nodes[0].fields == (change,)
    assert (*found.weights, *found.removed, *found.added) == ()


def test_an_added_node_in_the_middle() -> None:
    other = chain()
    other.graph.node[2].input[0] = "extra"
    other.graph.node.insert(2, onnx.helper.make_node("Sin", ["b"], ["extra"], "new"))
    found = diff(chain(), disguised(other, 3))
    assert [node.op for node in found.added] == ["Sin"]
    assert found.removed == ()
    assert [(c.before.op, c.fields[0].field) for c in found.nodes] == [("Tanh", "input 0")]


def test_what_differs_under_the_same_name_says_from_where_it_is() -> None:
    other = chain()
    del other.graph.node[2]
    kept = other.graph.node[1]
    assert kept.output[0] == "b"
    kept.output[0] = "y"
    found = diff(chain(), other)
    (output,) = found.interface
    assert (output.field, output.old, output.new) == (
        "output 0",
        "y (from Tanh #2)",
        "y (from MatMul #1)",
    )


def test_a_removed_block() -> None:
    other = tower()
    del other.graph.node[4:6]
    other.graph.node[4].input[0] = "r2"
    del other.graph.initializer[2]
    found = diff(tower(), disguised(other, 4))
    assert [node.outputs for node in found.removed] == [("m2",), ("r3",)]
    assert found.added == ()
    assert [(w.presence, w.name) for w in found.weights] == [(Presence.REMOVED, "w2")]
    assert [c.before.outputs for c in found.nodes] == [("m3",)]


def test_swapped_operands() -> None:
    other = MODELS["twins"]()
    other.graph.node[4].input[:] = ["c", "c"]
    found = diff(MODELS["twins"](), other)
    assert not found.same


def test_metadata_types_and_interface() -> None:
    other = convolution()
    other.producer_name = "me"
    other.opset_import[0].version = 18
    other.metadata_props[0].value = "no one"
    other.graph.value_info[0].type.tensor_type.shape.dim[0].dim_param = "n"
    other.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.DOUBLE
    found = diff(convolution(), other)
    assert set(found.metadata) == {
        FieldChange("model", "producer_name", None, "me"),
        FieldChange("model", "opset ai.onnx", "17", "18"),
        FieldChange("model", "metadata author", "somebody", "no one"),
    }
    old, new = "float32[1, 4, 8, 8]", "float32[n, 4, 8, 8]"
    assert found.types == (FieldChange("main: a", "type", old, new),)
    double = FieldChange("main: output y", "type", old, "float64[1, 4, 8, 8]")
    assert found.interface == (double,)


def test_inside_subgraphs_and_functions() -> None:
    other = disguised(MODELS["branches"](), 5)
    (choice,) = [n for n in other.graph.node if n.op_type == "If"]
    orelse = next(a.g for a in choice.attribute if a.name == "else_branch")
    orelse.node[0].op_type = "Log"
    found = diff(MODELS["branches"](), other)
    assert [(n.op, n.scope) for n in found.removed] == [("Exp", "main/If.else_branch")]
    assert [n.op for n in found.added] == ["Log"]

    other = MODELS["functions"]()
    other.functions[0].node[1].op_type = "Add"
    found = diff(MODELS["functions"](), other)
    assert [(n.op, n.scope) for n in found.removed] == [("Mul", "function:own::scaled")]


def test_a_constant_node_counts_as_a_weight() -> None:
    other = disguised(MODELS["constants"](), 6)
    node = next(n for n in other.graph.node if n.op_type == "Constant" and n.attribute[0].t.dims)
    values = np.array([1.0, 2.02, 4.0], np.float32)
    node.attribute[0].t.CopyFrom(numpy_helper.from_array(values))
    found = diff(MODELS["constants"](), other)
    assert [(w.name, w.old) for w in found.weights] == [("k", "float32[3]")]
    assert found.nodes == ()


def test_unused_weights_and_storage_forms() -> None:
    other = shared()
    values = numpy_helper.to_array(other.graph.initializer[0])
    other.graph.initializer[0].ClearField("raw_data")
    other.graph.initializer[0].float_data.extend(values.reshape(-1).tolist())
    assert diff(shared(), other).same
    del other.graph.initializer[1]
    found = diff(shared(), other)
    assert [(w.presence, w.name) for w in found.weights] == [(Presence.REMOVED, "unused")]


def external(folder: Path, name: str, values: bytes, location: str, offset: int = 0) -> Path:
    """Write a model whose only weight lies in a data file; the data file is written if absent."""
    count = len(values) // 4
    text = f'<ir_version: 8, opset_import: ["" : 17]> g (float[{count}] x) => (float[{count}] y) '
    model = onnx.parser.parse_model(text + "{ y = Mul(x, w) }")
    tensor = model.graph.initializer.add(name="w", data_type=1, dims=[count])
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", offset), ("length", len(values))):
        tensor.external_data.add(key=key, value=str(value))
    if not (folder / location).exists():
        (folder / location).write_bytes(b"\0" * offset + values)
    path = folder / name
    path.write_bytes(model.SerializeToString())
    return path


def test_external_data_is_compared_in_pieces(tmp_path: Path) -> None:
    values = np.arange(CHUNK // 4 + 1000, dtype=np.float32)
    one = external(tmp_path, "one.onnx", values.tobytes(), "one.bin")
    two = external(tmp_path, "two.onnx", values.tobytes(), "two.bin", offset=4096)
    assert diff(one, two).same
    changed = values.copy()
    changed[-1] += 512
    three = external(tmp_path, "three.onnx", changed.tobytes(), "three.bin")
    found = diff(one, three)
    statistics = found.weights[0].statistics
    assert statistics is not None
    assert (statistics.differing, statistics.first) == (1, (values.size - 1,))
    assert statistics.max_abs == 512


def test_the_same_piece_of_the_same_file_is_not_read(tmp_path: Path) -> None:
    values = np.ones(1000, np.float32).tobytes()
    one = external(tmp_path, "one.onnx", values, "shared.bin")
    two = external(tmp_path, "two.onnx", values, "shared.bin")
    protos = [read_model(path).proto for path in (one, two)]
    contents = Contents(protos[0], protos[1], (str(tmp_path), str(tmp_path)))
    tensors = [proto.graph.initializer[0] for proto in protos]
    assert contents.label(tensors[0], 0) == contents.label(tensors[1], 1)
    assert contents.equal(tensors[0], tensors[1])
    assert contents.read == 0
    assert diff(one, two).same


def test_sub_byte_weights(tmp_path: Path) -> None:
    model = chain()
    model.graph.initializer.append(
        onnx.helper.make_tensor("nibbles", onnx.TensorProto.INT4, [5], [1, -2, 3, 4, -5])
    )
    other = chain()
    other.graph.initializer.append(
        onnx.helper.make_tensor("nibbles", onnx.TensorProto.INT4, [5], [1, -2, 3, 4, 6])
    )
    (weight,) = diff(model, other).weights
    assert weight.statistics is not None
    assert (weight.statistics.max_abs, weight.statistics.first) == (11.0, (4,))


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidModel, match="no such file"):
        diff(tmp_path / "absent.onnx", chain())
