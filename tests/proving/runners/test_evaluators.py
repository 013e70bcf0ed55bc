"""Numpy models of operators that no engine has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, parser

from graphfix.errors import EngineFailed, UsageError
from graphfix.proving.models import compare_files, run_model
from graphfix.proving.runners.evaluators import Evaluators
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.values.kinds import Feed
from graphfix.proving.whole.options import ComparisonOptions
from graphfix.report import Verdict
from graphfix.worker.messages import ChildFault

HEAD = '<ir_version: 8, opset_import: ["" : 11, "my" : 1]> g'
SOURCE = """
import numpy as np

def weighted(inputs, attributes):
    x, extra = inputs[0], inputs[1] if len(inputs) > 1 else None
    assert extra is None
    assert attributes["mode"] == "fast" and attributes["names"] == ["a", "b"]
    weights = np.array(attributes["weights"], x.dtype)
    return (x * weights * attributes.get("scale", 1), x + attributes["input"])

def broken(inputs, attributes):
    raise RuntimeError("no")

def unwritten(inputs, attributes):
    return inputs[0].no_such_thing()

def crashing(inputs, attributes):
    import os, signal
    os.kill(os.getpid(), signal.SIGSEGV)
"""


@pytest.fixture
def place(tmp_path: Path) -> str:
    path = tmp_path / "operators.py"
    path.write_text(SOURCE)
    return str(path)


def node(outputs: list[str], source: str = "x") -> onnx.NodeProto:
    return helper.make_node(
        "Weighted",
        [source, ""],
        outputs,
        domain="my",
        mode="fast",
        names=["a", "b"],
        weights=[1.0, 2.0, 3.0],
        input=5,
    )


def save(path: Path, nodes: list[onnx.NodeProto], outputs: list[str]) -> Path:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", 1, ["N", 3])],
        [helper.make_tensor_value_info(name, 1, ["N", 3]) for name in outputs],
    )
    opsets = [helper.make_opsetid("", 11), helper.make_opsetid("my", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path


def test_attributes_without_schema_reach_the_function(tmp_path: Path, place: str) -> None:
    path = save(tmp_path / "m.onnx", [node(["y", "z"])], ["y", "z"])
    x = np.array([[1, 1, 2]], np.float32)
    found = run_model(path, [{"x": x}], evaluators={("my", "Weighted"): f"{place}:weighted"})
    np.testing.assert_array_equal(found[0]["y"], [[1, 2, 6]])
    np.testing.assert_array_equal(found[0]["z"], [[6, 6, 7]])


def test_a_function_that_is_written_wrongly_is_a_fault_and_no_failing_engine(
    tmp_path: Path, place: str
) -> None:
    path = save(tmp_path / "m.onnx", [node(["y"])], ["y"])
    with pytest.raises(ChildFault, match="the numpy model of Weighted failed: AttributeError"):
        compare_files(
            path, path, ComparisonOptions(evaluators={("my", "Weighted"): f"{place}:unwritten"})
        )


def test_the_rest_keeps_the_semantics_of_its_opset(tmp_path: Path, place: str) -> None:
    # Softmax up to opset 12 flattens from axis on; the reference evaluator does not.
    graph = """(float[2, 2, 3] x) => (float[2, 2, 3] y)
    { s = Softmax<axis = 1>(x) y = my.Weighted<mode = "fast", names = ["a", "b"],
      weights = [1.0, 1.0, 1.0], input = 0>(s) }"""
    path = tmp_path / "m.onnx"
    path.write_bytes(parser.parse_model(HEAD + graph).SerializeToString())
    x = np.zeros((2, 2, 3), np.float32)
    found = run_model(path, [{"x": x}], evaluators={("my", "Weighted"): f"{place}:weighted"})
    np.testing.assert_allclose(found[0]["y"], np.full((2, 2, 3), 1 / 6), rtol=1e-6)


def test_subgraphs_and_functions_reach_the_function_too(place: str) -> None:
    text = """<ir_version: 8, opset_import: ["" : 17, "my" : 1, "f" : 1]>
    g (float[1, 3] x, bool c) => (float[1, 3] y)
    { y = If (c) < then_branch = t () => (float[1, 3] a) { a = f.twice<s = 2.0>(x) },
                   else_branch = e () => (float[1, 3] b) { b = Neg(x) }> }
    <domain: "f", opset_import: ["" : 17, "my" : 1]>
    twice <s> (q) => (r) { r = my.Weighted<mode = "fast", names = ["a", "b"],
                           weights = [1.0, 2.0, 3.0], input = 0, scale: float = @s>(q) }"""
    model = parser.parse_model(text)
    engine = RunnableModel(
        model, evaluators=Evaluators({("my", "Weighted"): f"{place}:weighted"})
    ).open()
    feed: Feed = {"x": np.ones((1, 3), np.float32), "c": np.array(True)}
    np.testing.assert_array_equal(np.asarray(engine.run(feed)["y"]), [[2, 4, 6]])
    feed["c"] = np.array(False)
    np.testing.assert_array_equal(np.asarray(engine.run(feed)["y"]), [[-1, -1, -1]])


def test_a_rewrite_is_compared_with_its_numpy_model(tmp_path: Path, place: str) -> None:
    before = save(tmp_path / "b.onnx", [node(["y"])], ["y"])
    options = ComparisonOptions(evaluators={("my", "Weighted"): f"{place}:weighted"})
    for weights, status in (([1, 2, 3], Verdict.EQUAL), ([1, 2, 3.01], Verdict.MISMATCH)):
        constant = helper.make_node("Constant", [], ["w"], value_floats=None)
        del constant.attribute[:]
        value = onnx.numpy_helper.from_array(np.array(weights, np.float32))
        constant.attribute.append(helper.make_attribute("value", value))
        after = save(
            tmp_path / "a.onnx", [constant, helper.make_node("Mul", ["x", "w"], ["y"])], ["y"]
        )
        assert compare_files(before, after, options).status is status


def test_a_function_that_fails_or_is_missing_is_said(tmp_path: Path, place: str) -> None:
    path = save(tmp_path / "m.onnx", [node(["y"])], ["y"])
    x = np.ones((1, 3), np.float32)
    with pytest.raises(EngineFailed, match="RuntimeError"):
        run_model(path, [{"x": x}], evaluators={("my", "Weighted"): f"{place}:broken"})
    with pytest.raises(UsageError, match="cannot import"):
        run_model(path, [{"x": x}], evaluators={("my", "Weighted"): f"{place}:absent"})


def test_a_crash_of_the_engine_is_inconclusive(tmp_path: Path, place: str) -> None:
    path = save(tmp_path / "m.onnx", [node(["y"])], ["y"])
    options = ComparisonOptions(evaluators={("my", "Weighted"): f"{place}:crashing"})
    found = compare_files(path, path, options)
    assert found.status is Verdict.INCONCLUSIVE
    assert "crashed (SIGSEGV)" in found.reason


def test_an_operator_without_kernel_is_run_by_the_reference_alone() -> None:
    # onnxruntime has no integer Relu for int16.
    text = "(int16[3] x) => (int32[3] y) { r = Relu(x) y = Cast<to = 6>(r) }"
    model = parser.parse_model('<ir_version: 8, opset_import: ["" : 17]> g' + text)
    engine = RunnableModel(model).open()
    assert engine.name == "onnxruntime and numpy"
    found = engine.run({"x": np.array([-1, 0, 5], np.int16)})
    np.testing.assert_array_equal(np.asarray(found["y"]), [0, 0, 5])


@pytest.mark.parametrize("mode", ["", 'mode = "nearest", ', 'mode = "bicubic", '])
def test_the_old_modes_of_grid_sample_mean_the_same_to_the_reference(mode: str) -> None:
    # onnxruntime has no GridSample for float64.
    text = """<ir_version: 8, opset_import: ["" : 16]>
        g (float[1, 2, 5, 4] x, float[1, 3, 6, 2] grid) => (float[1, 2, 3, 6] y)
        { y = GridSample <MODE padding_mode = "zeros"> (x, grid) }"""
    single = parser.parse_model(text.replace("MODE", mode))
    double = parser.parse_model(text.replace("MODE", mode).replace("float", "double"))
    rng = np.random.default_rng(0)
    feed = {"x": rng.standard_normal((1, 2, 5, 4)), "grid": rng.uniform(-1.2, 1.2, (1, 3, 6, 2))}
    found = RunnableModel(double).open().run(dict(feed))["y"]
    small = {name: value.astype(np.float32) for name, value in feed.items()}
    expected = RunnableModel(single).open().run(dict(small))["y"]
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), atol=2e-5)


@pytest.mark.parametrize("head", ['<ir_version: 99, opset_import: ["" : 17]> g', None])
def test_a_number_that_is_too_new_does_not_stop_the_engine(head: str | None) -> None:
    head = head or '<ir_version: 8, opset_import: ["" : 27]> g'
    model = parser.parse_model(head + "(float[2] x) => (float[2] y) { y = Relu(x) }")
    engine = RunnableModel(model).open()
    assert engine.name.startswith("onnxruntime")
