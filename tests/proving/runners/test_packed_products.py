"""Products with packed weights are compared as their formula says, not as onnxruntime rounds."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from graphfix.analysis.packed_products import by_formula, formula_said
from graphfix.cli import main
from graphfix.proving.runners.ort_engine import OrtEngine

ROWS, COLUMNS, BLOCK = 24, 64, 16
SAID = "compared with accuracy_level 0: at 4 onnxruntime rounds an operand of MatMulNBits to int8"


def packed_model(level: int, *, guarded: bool = False) -> tuple[ModelProto, np.ndarray[Any, Any]]:
    """Return a product with random weights of 4 bits, in a branch if `guarded`, and the weights."""
    rng = np.random.default_rng(3)
    data = rng.integers(0, 256, (ROWS, COLUMNS // BLOCK, BLOCK // 2), np.uint8)
    scales = rng.uniform(0.01, 0.1, (ROWS, COLUMNS // BLOCK)).astype(np.float32)
    numbers = np.stack([data & 15, data >> 4], -1).reshape(ROWS, -1, BLOCK).astype(np.float32)
    how: dict[str, Any] = {
        "K": COLUMNS,
        "N": ROWS,
        "bits": 4,
        "block_size": BLOCK,
        "accuracy_level": level,
    }
    node = helper.make_node(
        "MatMulNBits", ["x", "w", "s"], ["y"], domain="com.microsoft", name="packed", **how
    )
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", COLUMNS])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", ROWS])
    weights = [numpy_helper.from_array(data, "w"), numpy_helper.from_array(scales, "s")]
    nodes = [node]
    given = [x]
    if guarded:
        other = helper.make_node("MatMulNBits", ["x", "w", "s"], ["y2"], domain="com.microsoft")
        other.attribute.extend(node.attribute)
        minus = helper.make_node("Neg", ["y2"], ["y3"])
        then = helper.make_graph([node], "then", [], [y])
        out = helper.make_tensor_value_info("y3", TensorProto.FLOAT, ["rows", ROWS])
        otherwise = helper.make_graph([other, minus], "else", [], [out])
        y = helper.make_tensor_value_info("z", TensorProto.FLOAT, ["rows", ROWS])
        nodes = [helper.make_node("If", ["c"], ["z"], then_branch=then, else_branch=otherwise)]
        given = [x, helper.make_tensor_value_info("c", TensorProto.BOOL, [])]
    graph = helper.make_graph(nodes, "g", given, [y], weights)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    matrix = ((numbers - 8) * scales[:, :, None]).reshape(ROWS, COLUMNS)
    return helper.make_model(graph, opset_imports=opsets, ir_version=8), matrix


def test_what_runs_is_the_formula() -> None:
    model, matrix = packed_model(4)
    x = np.random.default_rng(1).standard_normal((3, COLUMNS)).astype(np.float32)
    y = OrtEngine(model, "").run({"x": x})["y"]
    np.testing.assert_allclose(np.asarray(y), x @ matrix.T, rtol=1e-4, atol=1e-4)
    assert [a.i for a in model.graph.node[0].attribute if a.name == "accuracy_level"] == [4]


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_other_levels_keep_the_operand(level: int) -> None:
    model, _ = packed_model(level)
    assert by_formula(model) is model
    assert formula_said([model]) == ""


def test_subgraphs_and_functions_are_seen() -> None:
    model, _ = packed_model(4, guarded=True)
    text = by_formula(model).SerializeToString()
    assert formula_said([ModelProto.FromString(text)]) == ""
    assert formula_said([model]) == SAID


@pytest.mark.parametrize("guarded", [False, True])
def test_a_run_says_it_and_ends_with_0(
    guarded: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, _ = packed_model(4, guarded=guarded)
    path, out = tmp_path / "m.onnx", tmp_path / "o.onnx"
    path.write_bytes(model.SerializeToString())
    assert main(["run", str(path), "--target", "trt8", "-o", str(out), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["verification"]["status"] == "equal"
    assert SAID in report["verification"]["method"]
    proofs = [
        site["certificate"]
        for done in report["outcomes"]
        for site in done["sites"]
        if done["pass"] == "matmul-nbits-to-matmul"
    ]
    assert [(p["status"], p["reason"]) for p in proofs] == [("equal", SAID)] * (1 + guarded)


def test_a_target_that_takes_it_keeps_the_level(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, _ = packed_model(4)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    out = tmp_path / "o.onnx"
    assert main(["run", str(tmp_path / "m.onnx"), "--target", "ort", "-o", str(out)]) == 0
    capsys.readouterr()
    (node,) = onnx.ModelProto.FromString(out.read_bytes()).graph.node
    assert [a.i for a in node.attribute if a.name == "accuracy_level"] == [4]


@pytest.mark.parametrize("columns", [COLUMNS, 5 * BLOCK])
@pytest.mark.parametrize("stored", [True, False])
def test_zero_points_next_to_an_order_of_the_columns_count(columns: int, stored: bool) -> None:
    rng = np.random.default_rng(5)
    blocks = columns // BLOCK
    data = rng.integers(0, 256, (ROWS, blocks, BLOCK // 2), np.uint8)
    scales = rng.uniform(0.01, 0.1, (ROWS, blocks)).astype(np.float32)
    zeros = rng.integers(0, 16, (ROWS, blocks + blocks % 2), np.uint8)
    order = rng.permutation(np.arange(columns) // BLOCK).astype(np.int32)
    packed = zeros[:, ::2] | (zeros[:, 1::2] << 4)
    how: dict[str, Any] = {"K": columns, "N": ROWS, "bits": 4, "block_size": BLOCK}
    node = helper.make_node(
        "MatMulNBits", ["x", "w", "s", "z", "g"], ["y"], domain="com.microsoft", **how
    )
    given = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", columns])]
    arrays = {"w": data, "s": scales, "g": order, "z": packed.reshape(-1)}
    if not stored:
        kind = helper.make_tensor_value_info("z", TensorProto.UINT8, [packed.size])
        given.append(kind)
    weights = [numpy_helper.from_array(a, n) for n, a in arrays.items() if stored or n != "z"]
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", ROWS])
    graph = helper.make_graph([node], "g", given, [y], weights)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    numbers = np.stack([data & 15, data >> 4], -1).reshape(ROWS, columns).astype(np.float32)
    matrix = (numbers - zeros[:, order]) * scales[:, order]
    x = rng.standard_normal((3, columns)).astype(np.float32)
    feed: dict[str, Any] = {"x": x} if stored else {"x": x, "z": packed.reshape(-1)}
    found = OrtEngine(model, "").run(feed)["y"]
    np.testing.assert_allclose(np.asarray(found), x @ matrix.T, rtol=1e-4, atol=1e-4)
    assert len(model.graph.node) == 1
    assert formula_said([model]) == (
        "compared with zero points in floats: onnxruntime leaves out others next to g_idx"
    )
    assert formula_said([by_formula(model)]) == ""
