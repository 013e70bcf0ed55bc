"""onnxruntime has no MatMulNBits of 2 and 8 bits with g_idx: the formula is written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import graphfix
from graphfix import edits
from graphfix.analysis.packed_products import BITS_SAID, by_formula, formula_said
from graphfix.proving.runners.ort_engine import OrtEngine
from graphfix.testing import outputs_of

ROWS, COLUMNS, BLOCK = 3, 32, 16
ORDER = (np.arange(COLUMNS) * 7 % 2).astype(np.int32)
X = np.random.default_rng(3).normal(size=(2, COLUMNS)).astype(np.float32)
WAYS = [(bits, zeros) for bits in (2, 8) for zeros in ("none", "uint8", "floats")]


def product(
    bits: int, zeros: str, order: bool = True, level: int = 0, typed: Any = np.float32
) -> tuple[ModelProto, np.ndarray[Any, Any]]:
    """Return a product of x [n, 32] with packed weights, and these weights, [3, 32]."""
    rng = np.random.default_rng(bits)
    numbers = rng.integers(0, 1 << bits, (ROWS, 2, BLOCK))
    middle = np.full((ROWS, 2), 1 << (bits - 1))
    scales = rng.uniform(0.1, 0.3, (ROWS, 2)).astype(typed)
    each = 8 // bits
    shifts = np.arange(each) * bits
    packed = (numbers.reshape(ROWS, 2, -1, each) << shifts).sum(-1).astype(np.uint8)
    stored: dict[str, Any] = {"w": packed, "s": scales}
    if zeros != "none":
        middle = rng.integers(0, 1 << bits, (ROWS, 2))
        stored["z"] = middle.astype(typed)
    if zeros == "uint8":
        full = np.zeros((ROWS, -(-2 // each) * each), int)
        full[:, :2] = middle
        stored["z"] = (full.reshape(ROWS, -1, each) << shifts).sum(-1).astype(np.uint8)
    if order:
        stored["g"] = ORDER
    places = ORDER if order else np.arange(COLUMNS) // BLOCK
    inputs = ["x", "w", "s", "z" if "z" in stored else "", "g" if order else ""]
    while not inputs[-1]:
        inputs.pop()
    node = helper.make_node("MatMulNBits", inputs, ["y"], domain="com.microsoft")
    how = {"K": COLUMNS, "N": ROWS, "bits": bits, "block_size": BLOCK, "accuracy_level": level}
    node.attribute.extend(helper.make_attribute(name, value) for name, value in how.items())
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(typed))
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", kind, ["n", COLUMNS])],
        [helper.make_tensor_value_info("y", kind, ["n", ROWS])],
        [numpy_helper.from_array(value, name) for name, value in stored.items()],
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, ir_version=8, opset_imports=imports)
    flat = numbers.reshape(ROWS, -1) - middle[:, places]
    return model, flat * scales.astype(np.float64)[:, places]


@pytest.mark.parametrize(("bits", "zeros"), WAYS)
@pytest.mark.parametrize("typed", [np.float32, np.float16])
def test_the_formula(bits: int, zeros: str, typed: Any) -> None:
    model, weights = product(bits, zeros, level=4, typed=typed)
    before = model.SerializeToString(deterministic=True)
    found = np.asarray(OrtEngine(model, "").run({"x": X.astype(typed)})["y"])
    assert model.SerializeToString(deterministic=True) == before
    assert formula_said([model]).endswith(BITS_SAID)
    assert found.dtype == typed
    wanted = X.astype(typed).astype(np.float64) @ weights.T
    np.testing.assert_allclose(found, wanted, rtol=2e-2 if typed is np.float16 else 1e-4, atol=1e-4)


def test_a_bias_and_columns_that_end_in_a_block_count() -> None:
    model, _ = product(8, "uint8")
    (node,) = model.graph.node
    for attribute in node.attribute:
        attribute.i = COLUMNS - 3 if attribute.name == "K" else attribute.i
    node.input.append("c")
    bias = np.array([1.0, -2.0, 3.0], np.float32)
    model.graph.initializer.append(numpy_helper.from_array(bias, "c"))
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_value = COLUMNS - 3
    _, weights = product(8, "uint8")
    found = np.asarray(OrtEngine(model, "").run({"x": X[:, :-3]})["y"])
    np.testing.assert_allclose(found, X[:, :-3] @ weights.T[:-3] + bias, 1e-4, 1e-4)


def test_a_branch_is_seen() -> None:
    model, weights = product(2, "uint8")
    graph = model.graph
    kept = helper.make_graph(list(graph.node), "then", [], list(graph.output))
    del graph.node[:]
    graph.node.append(helper.make_node("If", ["c"], ["out"], then_branch=kept, else_branch=kept))
    graph.input.append(helper.make_tensor_value_info("c", TensorProto.BOOL, []))
    graph.output[0].name = "out"
    found = np.asarray(OrtEngine(model, "").run({"x": X, "c": np.array(True)})["out"])
    np.testing.assert_allclose(found, X @ weights.T, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("zeros", ["none", "floats"])
def test_what_onnxruntime_computes_by_the_formula_is_left_to_it(zeros: str) -> None:
    for model, weights in [
        product(4, zeros),
        product(2, "uint8", False),
        product(8, "none", False),
    ]:
        assert by_formula(model) is model
        assert formula_said([model]) == ""
        found = np.asarray(OrtEngine(model, "").run({"x": X})["y"])
        np.testing.assert_allclose(found, X @ weights.T, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("bits", "zeros"), WAYS)
def test_it_is_found_and_repaired(bits: int, zeros: str) -> None:
    model, weights = product(bits, zeros)
    result = graphfix.run(model, target="ort-1.32")
    assert result.exit_code == 0
    assert "MatMulNBits" in {f.node.op for f in result.report.findings_before}
    found = outputs_of(result.model.to_proto(), {"x": X})["y"]
    np.testing.assert_allclose(found, X @ weights.T, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("bits", "zeros"), WAYS)
def test_its_weights_become_floats_and_blocks_again(bits: int, zeros: str) -> None:
    model, weights = product(bits, zeros)
    floats = edits.weights_to(model, "floats")
    assert floats.exit_code == 0
    stored = {t.name: numpy_helper.to_array(t) for t in floats.model.to_proto().graph.initializer}
    np.testing.assert_allclose(stored["w_floats"], weights.T, rtol=1e-6)
    back = edits.weights_to(floats.model.to_proto(), "blocks")
    assert back.exit_code == 0
    kept = {t.name: numpy_helper.to_array(t) for t in back.model.to_proto().graph.initializer}
    assert {n: a.tobytes() for n, a in kept.items()} == {
        t.name: numpy_helper.to_array(t).tobytes() for t in model.graph.initializer
    }


def test_weights_that_are_packed_for_a_processor_are_left_alone() -> None:
    model, _ = product(8, "uint8")
    model.graph.node[0].attribute.append(helper.make_attribute("weight_prepacked", 1))
    assert by_formula(model) is model
    assert graphfix.run(model, target="trt10").exit_code == 1
