"""inputs-kept-in-use: an output depends on an input that nothing reads."""

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphfix
from graphfix.testing import assert_rewrite, run_pass

PASS = "inputs-kept-in-use"
HEAD = '<ir_version: 8, opset_import: ["" : {opset}]> g '


def model(unused: str, body: str = "y = Relu (x)", kind: str = "float", opset: int = 17) -> str:
    return (
        f"{HEAD.format(opset=opset)} ({kind}[2, 3] x, {unused} u) => ({kind}[2, 3] y) {{ {body} }}"
    )


X = np.array([[-1.0, 2.0, np.inf], [0.0, -0.0, 5.0]], np.float32)
KINDS: dict[str, Any] = {
    "float": np.float32, "float16": np.float16, "double": np.float64, "int32": np.int32,
    "int64": np.int64, "uint8": np.uint8, "bool": np.bool_,
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(), (4,), (1, 1), (2, 5), (1, 2, 3)])
def test_each_type_and_rank(kind: str, shape: tuple[int, ...]) -> None:
    sizes = f"[{', '.join(map(str, shape))}]" if shape else ""
    feed = {"x": X, "u": np.ones(shape, KINDS[kind])}
    done = assert_rewrite(PASS, model(f"{kind}{sizes}"), feeds=[feed])
    assert done.ops[-1] == "Add"
    assert [info.name for info in done.after.graph.input] == ["x", "u"]


@pytest.mark.parametrize("opset", [9, 13, 21])
@pytest.mark.parametrize("kind", ["int32", "int64", "float"])
def test_outputs_of_integers_and_opsets(kind: str, opset: int) -> None:
    text = model("float[2]", "y = Identity (x)", kind, opset)
    x = np.array([[1, -2, 3], [0, 5, 7]], KINDS[kind])
    assert_rewrite(PASS, text, feeds=[{"x": x, "u": np.full(2, np.nan, np.float32)}])


@given(number=st.floats(width=32))
def test_whatever_the_input_holds(number: float) -> None:
    feed = {"x": X, "u": np.full((3, 2), number, np.float32)}
    assert_rewrite(PASS, model("float[3, 2]"), feeds=[feed])


def test_for_a_target_that_refuses_unused_inputs() -> None:
    parsed = onnx.parser.parse_model(model("float[2, 5]"))
    result = graphfix.run(parsed, target="opencv4.10", verify="full")
    assert result.exit_code == 0
    assert [node.op_type for node in result.model.to_proto().graph.node][-1] == "Add"


def test_outputs_that_nothing_is_added_to() -> None:
    text = HEAD.format(opset=17) + "(bool[2] x, float[2] u) => (bool[2] y) { y = Not (x) }"
    assert run_pass(PASS, text).ops == ["Not"]
