"""Results are models like any other: they can be run again, wherever their weights lie."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, helper, numpy_helper

import graphfix
from graphfix.report import Status, Verdict
from graphfix.testing import outputs_of

FLOAT = TensorProto.FLOAT


def external_model(folder: Path) -> Path:
    """Write Identity, MatMul and Mod with all weights in a file of their own."""
    graph = helper.make_graph(
        [
            helper.make_node("Identity", ["x"], ["i"]),
            helper.make_node("MatMul", ["i", "W"], ["p"]),
            helper.make_node("Mod", ["p", "D"], ["y"], fmod=1),
        ],
        "g",
        [helper.make_tensor_value_info("x", FLOAT, [2, 3])],
        [helper.make_tensor_value_info("y", FLOAT, [2, 4])],
        [
            numpy_helper.from_array(np.arange(12, dtype=np.float32).reshape(3, 4), "W"),
            numpy_helper.from_array(np.full(4, 2, np.float32), "D"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    path = folder / "m.onnx"
    onnx.save(  # pyright: ignore[reportUnknownMemberType]
        model, path, save_as_external_data=True, location="w.bin", size_threshold=0
    )
    return path


def test_external_weights_are_found_in_the_second_run(tmp_path: Path) -> None:
    first = graphfix.run(external_model(tmp_path), passes=["identity-elimination"])
    assert first.exit_code == 0
    second = graphfix.run(first.model, passes=["mod-elimination"])
    assert second.exit_code == 0
    assert [o.status for o in second.report.outcomes] == [Status.APPLIED]
    graphfix.save(second.model, tmp_path / "out.onnx")
    onnx.checker.check_model(tmp_path / "out.onnx")  # pyright: ignore[reportUnknownMemberType]


def test_a_result_that_was_loaded_again_is_not_the_file_any_more(tmp_path: Path) -> None:
    path = tmp_path / "f.onnx"
    text = (
        '<ir_version: 8, opset_import: ["": 13, "l": 1]> g (float[2] x) => (float[2] y)'
        "{ y = l.f (x) } "
        '<domain: "l", opset_import: ["": 13]> f (a) => (b) { b = Relu (a) }'
    )
    path.write_bytes(onnx.parser.parse_model(text).SerializeToString())
    inlined = graphfix.run(path, passes=["inline-functions"]).model
    again = graphfix.run(inlined, passes=["identity-elimination"])
    assert again.report.input.sha256 == ""
    assert again.report.input.path == ""


def test_a_file_that_was_overwritten_is_not_compared_with(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"

    def write(op: str) -> None:
        text = (
            '<ir_version: 8, opset_import: ["": 13]> g (float[4] x) => (float[4] y)'
            f"{{ a = Identity (x)  y = {op} (a) }}"
        )
        path.write_bytes(onnx.parser.parse_model(text).SerializeToString())

    write("Neg")
    model = graphfix.load(path)
    write("Exp")
    result = graphfix.run(model, passes=["identity-elimination"])
    assert result.report.verification.status is Verdict.EQUAL
    assert result.exit_code == 0


def test_an_input_that_is_an_output_keeps_both_declarations() -> None:
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["i"]), helper.make_node("Neg", ["i"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", FLOAT, ["N", 4])],
        [
            helper.make_tensor_value_info("y", FLOAT, ["N", 4]),
            helper.make_tensor_value_info("x", FLOAT, [None, None]),
        ],
    )
    model: ModelProto = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8
    )
    assert graphfix.load(model).to_proto() == model
    after = graphfix.run(model, passes=["identity-elimination"]).model.to_proto()
    assert [n.op_type for n in after.graph.node] == ["Neg"]
    assert list(after.graph.input) == list(model.graph.input)
    assert list(after.graph.output) == list(model.graph.output)


def test_a_constant_node_whose_value_lies_outside_the_file(tmp_path: Path) -> None:
    np.array([3, 4], np.float32).tofile(tmp_path / "c.bin")
    value = TensorProto(name="v", data_type=FLOAT, dims=[2], data_location=TensorProto.EXTERNAL)
    value.external_data.add(key="location", value="c.bin")
    value.external_data.add(key="length", value="8")
    graph = helper.make_graph(
        [
            helper.make_node("Constant", [], ["c"], value=value),
            helper.make_node("Mod", ["x", "c"], ["y"], fmod=1),
        ],
        "g",
        [helper.make_tensor_value_info("x", FLOAT, [2])],
        [helper.make_tensor_value_info("y", FLOAT, [2])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    for passes in (["mod-elimination"], ["constant-to-initializer", "mod-elimination"]):
        result = graphfix.run(tmp_path / "m.onnx", passes=passes, verify="off")
        graphfix.save(result.model, tmp_path / "out.onnx")
        after = onnx.load(tmp_path / "out.onnx")  # pyright: ignore[reportUnknownMemberType]
        assert "Mod" not in [n.op_type for n in after.graph.node]
        feed = {"x": np.array([7, -9.5], np.float32)}
        assert outputs_of(after, feed)["y"].tolist() == [1, -1.5]
