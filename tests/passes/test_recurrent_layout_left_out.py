"""recurrent-layout-left-out: a layout of 0, which is the default, is not written."""

import numpy as np
import pytest
from onnx import parser

import graphfix
from graphfix.report import Verdict
from graphfix.testing import assert_rewrite

PASS = "recurrent-layout-left-out"
HEAD = '<ir_version: 8, opset_import: ["" : 14]> g '
OPERATORS = [("LSTM", 4), ("GRU", 3), ("RNN", 1)]


def model(op: str, gates: int, attributes: str, length: str = "5") -> str:
    inputs = f"float[{length},2,3] x, float[1,{4 * gates},3] w, float[1,{4 * gates},4] r"
    return (
        f"{HEAD}({inputs}) => (float[{length},1,2,4] y) "
        f"{{ y = {op} <hidden_size = 4{attributes}> (x, w, r) }}"
    )


def feed(gates: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    shapes = {"x": (5, 2, 3), "w": (1, 4 * gates, 3), "r": (1, 4 * gates, 4)}
    return {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


@pytest.mark.parametrize(("op", "gates"), OPERATORS)
@pytest.mark.parametrize("length", ["5", "N"])
def test_a_written_layout_of_0_is_left_out(op: str, gates: int, length: str) -> None:
    text = model(op, gates, ", layout = 0", length)
    done = assert_rewrite(PASS, parser.parse_model(text), feeds=[feed(gates)], after=[op])
    assert not [a for n in done.after.graph.node for a in n.attribute if a.name == "layout"]


def test_subgraphs_are_rewritten_too() -> None:
    text = (
        f"{HEAD}(bool c, float[5,2,3] x, float[1,12,3] w, float[1,12,4] r) => (float[5,2,4] y) "
        "<int64[1] one = {1}> { y = If (c) <"
        "then_branch = t () => (float[5,2,4] u) { a = GRU <hidden_size = 4, layout = 0> (x, w, r) "
        "u = Squeeze (a, one) }, "
        "else_branch = e () => (float[5,2,4] v) { b = GRU <hidden_size = 4, layout = 0> (x, w, r) "
        "d = Neg (b) v = Squeeze (d, one) }> }"
    )
    done = graphfix.run(parser.parse_model(text), passes=[PASS])
    assert done.exit_code == 0
    assert done.report.verification.status is Verdict.EQUAL
    assert b"layout" not in done.model.to_proto().SerializeToString()
