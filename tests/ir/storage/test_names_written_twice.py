"""A name that two nodes write, or a node and an input: no model, and both are named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from onnx import ModelProto, helper, numpy_helper, parser

import graphfix
from graphfix.errors import InvalidModel
from graphfix.report import Severity, Status


def model_of(graph: str, functions: str = "") -> ModelProto:
    text = f'<ir_version: 8, opset_import: ["" : 16, "f" : 1]> g {graph}\n{functions}'
    return parser.parse_model(text)


REFUSED = {
    "two nodes": (
        "(float[3] a) => (float[3] y) { y = Relu (a) y = Neg (a) }",
        "node 0 (Relu) and node 1 (Neg) both write 'y'",
    ),
    "a constant and a node": (
        "(float[3] a) => (float[3] y) { y = Constant <value = float[1] {1}> () y = Neg (a) }",
        "node 0 (Constant) and node 1 (Neg) both write 'y'",
    ),
    "one node, twice": (
        "(float[4] a) => (float[2] y) { y, y = Split <axis = 0> (a) }",
        "node 0 (Split) writes 'y' twice",
    ),
    "a node and an input": (
        "(float[3] a) => (float[3] y) { a = Relu (a) y = Neg (a) }",
        "node 0 (Relu) writes 'a', which is an input",
    ),
    "a node and an initializer": (
        "(float[1] a) => (float[1] y) <float[1] t = {1}> { t = Relu (a) y = Relu (t) }",
        "node 0 (Relu) writes 't', which is an initializer",
    ),
    "two nodes of a body": (
        "(float[1] a, bool c) => (float[1] y) { y = If (c) "
        "<then_branch = t () => (float[1] z) { z = Relu (a) z = Neg (a) }, "
        "else_branch = e () => (float[1] w) { w = Abs (a) }> }",
        "node 0 (Relu) and node 1 (Neg) both write 'z'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_name_written_twice_is_no_model_and_both_are_named(case: str) -> None:
    graph, message = REFUSED[case]
    with pytest.raises(InvalidModel) as raised:
        graphfix.load(model_of(graph))
    assert raised.value.message == message
    assert raised.value.exit_code == 3


def test_the_command_ends_in_3_with_both_nodes(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(model_of(REFUSED["two nodes"][0]).SerializeToString())
    command = [sys.executable, "-m", "graphfix", "check", str(path), "--target", "trt8"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert REFUSED["two nodes"][1] in done.stderr
    assert "Traceback" not in done.stderr


def test_two_nodes_of_a_function() -> None:
    body = '<domain: "f", opset_import: ["" : 16]> F (x) => (y) { y = Relu (x) y = Neg (x) }'
    with pytest.raises(InvalidModel, match="both write 'y'"):
        graphfix.load(model_of("(float[1] a) => (float[1] y) { y = f.F (a) }", body))


def test_two_inputs_of_one_name() -> None:
    model = model_of("(float[1] a) => (float[1] y) { y = Relu (a) }")
    model.graph.input.add().CopyFrom(model.graph.input[0])
    with pytest.raises(InvalidModel, match="two inputs are called 'a'"):
        graphfix.load(model)


def doubled(first: float, second: float) -> ModelProto:
    graph = helper.make_graph(
        [helper.make_node("Mul", ["a", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("a", 1, [1])],
        [helper.make_tensor_value_info("y", 1, [1])],
        [helper.make_tensor("w", 1, [1], [first]), helper.make_tensor("w", 1, [1], [second])],
    )
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 16)])


@pytest.mark.parametrize(
    ("values", "said"),
    [((2, 2), "with the same value"), ((2, 3), "with other values: the last one counts")],
)
def test_two_initializers_of_one_name_become_one_and_that_is_said(
    values: tuple[float, float], said: str
) -> None:
    result = graphfix.run(doubled(*values), target="trt8.6")
    notes = [f for f in result.report.findings_before if f.rule == "repeated-constant"]
    assert [f.severity for f in notes] == [Severity.NOTE]
    assert notes[0].message == f"two constants of main are called w, {said}"
    assert "repeated-constants" in notes[0].removed_by
    (left,) = result.model.to_proto().graph.initializer
    assert numpy_helper.to_array(left).tolist() == [values[1]]
    assert result.exit_code == 0
    applied = [o.pass_id for o in result.report.outcomes if o.status is Status.APPLIED]
    assert applied == ["repeated-constants"]


def test_two_constants_of_one_name_become_one_without_a_target() -> None:
    graph = (
        "(float[1] a) => (float[1] y) { w = Constant <value = float[1] {2}> () y = Add (a, w) "
        "w = Constant <value = float[1] {2}> () }"
    )
    result = graphfix.run(model_of(graph), opset=17)
    assert result.exit_code == 0
    assert [n.op_type for n in result.model.to_proto().graph.node] == ["Constant", "Add"]
    onnx.checker.check_model(result.model.to_proto())  # pyright: ignore[reportUnknownMemberType]


def test_a_body_that_gives_a_tensor_the_name_of_one_around_it_is_a_finding() -> None:
    graph = (
        "(float[1] a, bool c) => (float[1] y) { t = Relu (a) y = If (c) "
        "<then_branch = b () => (float[1] z) { t = Neg (a) z = Relu (t) }, "
        "else_branch = e () => (float[1] w) { w = Relu (t) }> }"
    )
    found = [f for f in graphfix.check(model_of(graph), "ort-1.20") if f.certain]
    assert [(f.rule, str(f.severity)) for f in found] == [("shadowed-name", "reject")]
