"""--weights-to: weights of few bits as floats, and in the same blocks again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

import graphfix
from graphfix import UsageError, edits
from graphfix.cli import main
from graphfix.ir.storage.weights import load_array
from tests.edits.small_models import TOWER, checked, parsed, ran

CONTRIB = "com.microsoft"
FLOATS: dict[str, Any] = {"float16": np.float16, "float32": np.float32}


def bytes_of(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    """Return bytes that hold every number."""
    return np.random.default_rng(seed).integers(0, 256, shape, np.uint8)


def scales_of(*shape: int, dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    """Return scales of both signs."""
    found = np.random.default_rng(7).uniform(0.05, 0.2, shape)
    return (found * np.where(np.arange(found.size).reshape(shape) % 3, 1, -1)).astype(dtype)


def made(op: str, inputs: list[str], output: str, domain: str = "", **how: int) -> NodeProto:
    """Return a node, called after its operator; its last inputs may be empty."""
    while not inputs[-1]:
        inputs.pop()
    node = helper.make_node(op, inputs, [output], op, domain=domain or None)
    node.attribute.extend(helper.make_attribute(name, value) for name, value in how.items())
    return node


def contrib(op: str, inputs: list[str], **how: int) -> NodeProto:
    """Return a node of onnxruntime that gives y."""
    return made(op, inputs, "y", CONTRIB, **how)


def model_of(
    nodes: list[NodeProto],
    stored: dict[str, Any],
    x: tuple[int, list[Any]] = (TensorProto.FLOAT, ["n", 40]),
    y: tuple[int, list[Any]] = (TensorProto.FLOAT, ["n", 24]),
) -> ModelProto:
    """Return a model of x and y."""
    tensors = [
        value if isinstance(value, TensorProto) else numpy_helper.from_array(value, name)
        for name, value in stored.items()
    ]
    one, two = (helper.make_tensor_value_info(n, *kind) for n, kind in (("x", x), ("y", y)))
    graph = helper.make_graph(nodes, "g", [one], [two], tensors)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid(CONTRIB, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def product(
    dtype: str = "float32", bits: int = 4, columns: int = 40, **parts: np.ndarray[Any, Any]
) -> ModelProto:
    """Return a product with 24 rows of weights in blocks of 16."""
    blocks = -(-columns // 16)
    stored = {
        "w_Q": bytes_of(24, blocks, 2 * bits),
        "w_s": scales_of(24 * blocks, dtype=FLOATS[dtype]),
        **parts,
    }
    inputs = ["x", "w_Q", "w_s", *(n if n in parts else "" for n in ("w_z", "w_o", "bias"))]
    how = {"K": columns, "N": 24, "bits": bits, "block_size": 16, "accuracy_level": 4}
    node = contrib("MatMulNBits", inputs, **how)
    kind = TensorProto.FLOAT if dtype == "float32" else TensorProto.FLOAT16
    return model_of([node], stored, (kind, ["n", columns]), (kind, ["n", 24]))


def written(model: ModelProto) -> tuple[list[str], dict[str, bytes]]:
    """Return the nodes and the stored bytes of a model."""
    stored = {t.name: numpy_helper.to_array(t).tobytes() for t in model.graph.initializer}
    return sorted(str(node) for node in model.graph.node), stored


def there_and_back(model: ModelProto) -> ModelProto:
    """Return the floats, once these are proved to be in the same blocks again."""
    onnx.checker.check_model(model)  # pyright: ignore[reportUnknownMemberType]
    floats = checked(edits.weights_to(model, "floats"))
    back = edits.weights_to(floats, "blocks")
    assert written(checked(back)) == written(model)
    assert back.steps[0].said[-1] == "the stored bytes are those from before"
    assert not checked(back).metadata_props
    return floats


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("parts", ["", "w_z", "bias", "w_z bias"])
def test_products(dtype: str, bits: int, parts: str) -> None:
    known: dict[str, Any] = {
        "w_z": bytes_of(24, -(-3 * bits // 8), seed=1),
        "bias": np.linspace(-1, 1, 24).astype(FLOATS[dtype]),
    }
    model = product(dtype, bits, **{name: known[name] for name in parts.split()})
    if bits != 4 and dtype == "float16":
        floats = edits.weights_to(model, "floats", verify="off").model.to_proto()
        back = edits.weights_to(floats, "blocks", verify="off").model.to_proto()
        assert written(back) == written(model)
        return
    floats = there_and_back(model)
    casts = 1 + (dtype == "float16") * 2 + ("bias" in parts) * (1 + (dtype == "float16"))
    assert len(floats.graph.node) == casts
    stored = {t.name: t for t in floats.graph.initializer}
    assert (stored["w_Q_floats"].data_type, list(stored["w_Q_floats"].dims)) == (1, [40, 24])
    assert "w_Q" not in stored


def test_the_formula() -> None:
    data = np.full((24, 1, 8), 0x98, np.uint8)  # 8 and 9, so 0 and 1 of 4 bits
    floats = there_and_back(product(columns=16, w_Q=data, w_s=np.full(24, 0.5, np.float32)))
    (weight,) = [t for t in floats.graph.initializer if t.name == "w_Q_floats"]
    assert numpy_helper.to_array(weight)[:4, 0].tolist() == [0.0, 0.5, 0.0, 0.5]


def test_an_order_of_columns_and_zero_points_that_are_floats() -> None:
    order = (np.arange(48) * 7 % 3).astype(np.int32)
    zeros = np.linspace(6, 9, 24 * 3).astype(np.float32)
    floats = edits.weights_to(product(columns=48, w_o=order, w_z=zeros), "floats", verify="off")
    back = edits.weights_to(floats.model.to_proto(), "blocks", verify="off").model.to_proto()
    assert written(back) == written(product(columns=48, w_o=order, w_z=zeros))


def test_what_scales_of_zero_hide_comes_back() -> None:
    scales = scales_of(72)
    scales[::5] = 0
    floats = there_and_back(product(w_s=scales))
    assert "w_Q_rest" in {t.name for t in floats.graph.initializer}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("bits", "width"), [(4, 24), (8, 48), (4, 20)])
def test_lookups_of_bytes(dtype: str, bits: int, width: int) -> None:
    columns = width * 8 // bits
    stored = {
        "e_Q": bytes_of(50, width),
        "e_s": scales_of(50, -(-columns // 16), dtype=FLOATS[dtype]),
    }
    how = {"bits": bits, "block_size": 16, "gather_axis": 0, "quantize_axis": 1}
    node = contrib("GatherBlockQuantized", ["e_Q", "x", "e_s"], **how)
    kind = TensorProto.FLOAT if dtype == "float32" else TensorProto.FLOAT16
    model = model_of([node], stored, (TensorProto.INT64, ["n"]), (kind, ["n", columns]))
    floats = there_and_back(model)
    assert [node.op_type for node in floats.graph.node] == ["Gather"]


@pytest.mark.parametrize("kind", [TensorProto.INT4, TensorProto.UINT4])
def test_lookups_of_other_types_and_axes(kind: int) -> None:
    numbers = np.random.default_rng(0).integers(0, 8, 32 * 6)
    stored = {
        "e": helper.make_tensor("e", kind, [32, 6], numbers.tolist()),
        "e_s": scales_of(2, 6),
        "e_z": helper.make_tensor("e_z", kind, [2, 6], [1, 2, 3, 4, 5, 6] * 2),
    }
    how = {"block_size": 16, "gather_axis": 1, "quantize_axis": 0}
    inputs = ["e", "x", "e_s", "e_z"]
    node = contrib("GatherBlockQuantized", inputs, **how)
    ends = ((TensorProto.INT64, ["n"]), (TensorProto.FLOAT, [32, "n"]))
    there_and_back(model_of([node], stored, *ends))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("kind", "shape", "how"),
    [
        ("INT4", (3, 24), {"axis": 0, "block_size": 16}),
        ("UINT4", (40, 3), {"axis": 1, "block_size": 8}),
        ("INT8", (3, 24), {"axis": 0, "block_size": 16}),
        ("UINT8", (40, 3), {"axis": -1, "block_size": 8}),
        ("INT4", (24,), {"axis": 1}),
        ("UINT4", (), {}),
    ],
)
def test_dequantized_weights(
    dtype: str, kind: str, shape: tuple[int, ...], how: dict[str, Any]
) -> None:
    number = TensorProto.DataType.Value(kind)
    numbers = np.random.default_rng(0).integers(0, 8, 40 * 24).tolist()
    stored = {
        "q": helper.make_tensor("q", number, [40, 24], numbers),
        "s": scales_of(*shape, dtype=FLOATS[dtype]),
        "z": helper.make_tensor("z", number, shape, [3] * int(np.prod(shape))),
    }
    nodes = [
        made("DequantizeLinear", ["q", "s", "z"], "w", **how),
        helper.make_node("MatMul", ["x", "w"], ["y"]),
    ]
    type_ = TensorProto.FLOAT if dtype == "float32" else TensorProto.FLOAT16
    model = model_of(nodes, stored, (type_, ["n", 40]), (type_, ["n", 24]))
    floats = there_and_back(model)
    assert [node.op_type for node in floats.graph.node] == ["MatMul"]


def test_bytes_without_blocks_and_computed_weights_are_left_alone() -> None:
    stored = {"q": bytes_of(40, 24), "s": np.array(0.1, np.float32)}
    nodes = [
        helper.make_node("DequantizeLinear", ["q", "s"], ["w"]),
        helper.make_node("MatMul", ["x", "w"], ["y"]),
    ]
    with pytest.raises(UsageError, match="no node reads weights of few bits by blocks"):
        edits.weights_to(model_of(nodes, stored), "floats")
    late = product()
    late.graph.node[0].input[2] = "scales"
    nodes = [helper.make_node("Abs", ["w_s"], ["scales"]), *late.graph.node]
    computed = model_of(nodes, {t.name: t for t in late.graph.initializer})
    with pytest.raises(
        UsageError, match="MatMulNBits 'MatMulNBits' stays: the scales are computed at run"
    ):
        edits.weights_to(computed, "floats")


def test_nodes_in_subgraphs_and_weights_that_two_read() -> None:
    node = product().graph.node[0]
    inner = [NodeProto(), NodeProto()]
    branches: list[onnx.GraphProto] = []
    for each, name in zip(inner, ("one", "two"), strict=True):
        each.CopyFrom(node)
        each.name, each.output[0] = name, name
        info = helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 24])
        branches.append(helper.make_graph([each], name, [], [info]))
    size = helper.make_node("Size", ["x"], ["count"])
    some = helper.make_node("Greater", ["count", "forty"], ["more"])
    choose = helper.make_node(
        "If", ["more"], ["y"], then_branch=branches[0], else_branch=branches[1]
    )
    stored = {t.name: t for t in product().graph.initializer}
    model = model_of([size, some, choose], {**stored, "forty": np.array(40)})
    floats = there_and_back(model)
    names = [t.name for t in floats.graph.initializer]
    assert names.count("w_Q_floats") == 1
    assert [g.g.node[0].op_type for g in floats.graph.node[2].attribute] == ["MatMul"] * 2


def changed(model: ModelProto) -> ModelProto:
    """Return a model with a float weight that its blocks did not give."""
    (weight,) = [t for t in model.graph.initializer if t.name == "w_Q_floats"]
    array = numpy_helper.to_array(weight).copy()
    array[3, 5] += 0.01
    return edits.set_weights(model, "w_Q_floats", array).model.to_proto()


def test_weights_that_changed_are_rounded_where_that_is_asked_for() -> None:
    floats = changed(checked(edits.weights_to(product(), "floats")))
    with pytest.raises(UsageError, match=r"would be rounded: 'w_Q_floats' by up to 0.01, .*") as e:
        edits.weights_to(floats, "blocks")
    assert e.value.hint == "--weights-to blocks,rounded"
    found = edits.weights_to(floats, "blocks,rounded")
    assert found.steps[0].said[0].startswith("rounded: 'w_Q_floats' by up to 0.01, its largest")
    assert [p.claim for p in found.proofs] == ["it runs"]
    assert written(checked(found)) == written(product())


def test_a_weight_in_other_steps_of_its_blocks_is_exact_and_said_to_be_new() -> None:
    floats = checked(edits.weights_to(product(), "floats"))
    (weight,) = [t for t in floats.graph.initializer if t.name == "w_Q_floats"]
    array = numpy_helper.to_array(weight).copy()
    array[0, 0] = array[1, 0]  # of the same block
    other = edits.set_weights(floats, "w_Q_floats", array).model.to_proto()
    found = edits.weights_to(other, "blocks")
    assert found.steps[0].said == ("1 weight of MatMulNBits is in its blocks again",)
    x = np.eye(40, dtype=np.float32)
    np.testing.assert_allclose(ran(checked(found), x=x)["y"], array, rtol=1e-6)


def test_what_is_in_the_way_of_going_back_is_named() -> None:
    with pytest.raises(UsageError, match="says of no weight that it was in blocks"):
        edits.weights_to(parsed(TOWER), "blocks")
    with pytest.raises(UsageError, match="is not floats, blocks or blocks,rounded"):
        edits.weights_to(parsed(TOWER), "int4")
    floats = checked(edits.weights_to(product(), "floats"))
    kept = [t for t in floats.graph.initializer if t.name != "w_s"]
    bare = ModelProto()
    bare.CopyFrom(floats)
    bare.graph.ClearField("initializer")
    bare.graph.initializer.extend(kept)
    with pytest.raises(UsageError, match="'w_Q_floats' stays as floats: 'w_s' is not stored any"):
        edits.weights_to(bare, "blocks")


def test_a_weight_that_something_else_reads_too_stays_floats() -> None:
    floats = checked(edits.weights_to(product(), "floats"))
    floats.graph.node.append(helper.make_node("Neg", ["w_Q_floats"], ["z"]))
    floats.graph.output.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, [40, 24]))
    with pytest.raises(UsageError, match="Neg 'z' reads it, which is no product with it"):
        edits.weights_to(floats, "blocks")


def test_files_with_data_of_their_own(tmp_path: Path) -> None:
    data = bytes_of(512, 64, 8)
    model = product(columns=1024, w_Q=data, w_s=scales_of(512 * 64))
    model.graph.node[0].attribute[1].i = 512
    model.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 512
    onnx.save_model(  # pyright: ignore[reportUnknownMemberType]
        model, tmp_path / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=9
    )
    for old, form, new in (("m", "floats", "f"), ("f", "blocks", "b")):
        files = [str(tmp_path / f"{old}.onnx"), "-o", str(tmp_path / f"{new}.onnx")]
        assert main(["edit", *files, "--weights-to", form]) == 0
    floats = graphfix.load(tmp_path / "f.onnx").to_proto()
    assert {t.name for t in floats.graph.initializer if t.data_location} == {"w_Q_floats", "w_s"}
    assert (tmp_path / "f.onnx.data").stat().st_size >= 4 * 512 * 1024
    one, two = (graphfix.load(tmp_path / name).to_proto() for name in ("m.onnx", "b.onnx"))
    arrays = [
        {t.name: load_array(t, str(tmp_path)) for t in p.graph.initializer} for p in (one, two)
    ]
    assert arrays[0].keys() == arrays[1].keys()
    assert all(np.array_equal(array, arrays[1][name]) for name, array in arrays[0].items())
    assert not list(tmp_path.glob(".graphfix-*"))


def test_a_recipe_has_it(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(product().SerializeToString())
    recipe = tmp_path / "r.toml"
    recipe.write_text('recipe = 1\n[[step]]\nweights-to = "floats"\n', encoding="utf-8")
    out = tmp_path / "o.onnx"
    words = ["edit", str(tmp_path / "m.onnx"), "--recipe", str(recipe), "-o", str(out)]
    assert main(words) == 0
    (entry,) = [
        e for e in graphfix.load(out).to_proto().metadata_props if e.key == "graphfix_blocks"
    ]
    (noted,) = json.loads(entry.value)
    assert (noted["weight"], noted["data"], noted["dims"]) == ("w_Q_floats", "w_Q", [24, 3, 8])
    assert noted["attributes"]["block_size"] == 16
