"""recurrent-activations-left-out: names of activations that a node has anyway."""

from typing import Any

import numpy as np
import pytest

from graphfix.api import run
from graphfix.testing import assert_refused, assert_rewrite, assert_untouched
from tests.passes.shape_models import in_branch, text

PASS = "recurrent-activations-left-out"
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
NAMED = {"RNN": '"Tanh"', "GRU": '"Sigmoid", "Tanh"', "LSTM": '"sigmoid", "Tanh", "Tanh"'}
RNG = np.random.default_rng(4)


def model(op: str, named: str, *, both: bool = False, opset: int = 14) -> Any:
    ways, rows = (2 if both else 1), GATES[op] * 2
    more = f"activations = [{named}], hidden_size = 2"
    more += ', direction = "bidirectional"' if both else ""
    return text(
        f"g (float[T,N,3] x, float[{ways},{rows},3] w, float[{ways},{rows},2] r) => "
        f"(float[T,{ways},N,2] y) {{ y = {op} <{more}> (x, w, r) }}",
        opset,
    )


@pytest.mark.parametrize("opset", [7, 14])
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("op", sorted(GATES))
def test_values(op: str, both: bool, opset: int) -> None:
    ways, rows = (2 if both else 1), GATES[op] * 2
    named = ", ".join([NAMED[op]] * ways)
    feeds = [
        {
            "x": RNG.standard_normal((4, batch, 3)).astype(np.float32),
            "w": RNG.standard_normal((ways, rows, 3)).astype(np.float32),
            "r": RNG.standard_normal((ways, rows, 2)).astype(np.float32),
        }
        for batch in (1, 3)
    ]
    done = assert_rewrite(
        PASS, model(op, named, both=both, opset=opset), feeds=feeds, rtol=0, atol=0
    )
    assert "activations" not in {a.name for a in done.after.graph.node[0].attribute}


def test_in_a_branch() -> None:
    fill = "<value = float[1] {0.1}>"
    line = (
        "LOCALa = Constant <value_ints = [1, 2, 3]> () LOCALb = Constant <value_ints = [1, 2, 2]> "
        f"() LOCALw = ConstantOfShape {fill} (LOCALa) LOCALu = ConstantOfShape {fill} (LOCALb) "
        'LOCALr = RNN <activations = ["Tanh"], hidden_size = 2> (x, LOCALw, LOCALu)'
    )
    x = RNG.standard_normal((4, 2, 3)).astype(np.float32)
    feeds: list[dict[str, Any]] = [{"x": x, "c": np.array(c)} for c in (True, False)]
    assert_rewrite(PASS, in_branch(line, "float[4,2,3]", "float[4,1,2,2]"), feeds=feeds)


def test_refusals_and_others() -> None:
    reason = "the activations must be those of ONNX; others are named"
    assert_refused(PASS, model("GRU", '"Tanh", "Tanh"'), reason)
    plain = text(
        "g (float[T,N,3] x, float[1,2,3] w, float[1,2,2] r) => (float[T,1,N,2] y) "
        "{ y = RNN <hidden_size = 2> (x, w, r) }"
    )
    assert_refused(PASS, plain, "activations must be named; none are")
    assert_untouched(PASS, text("g (float[3] x) => (float[3] y) { y = Neg (x) }"))


def test_from_the_finding_to_the_end() -> None:
    graph = (
        "g (float[4,1,1] x) => (float[4,1,1,1] y) <float[1,3,1] w = {0.5, 0.25, -1}, "
        "float[1,3,1] r = {0.125, 1, 0.5}> "
        '{ y = GRU <activations = ["Sigmoid", "Tanh"], hidden_size = 1> (x, w, r) }'
    )
    result = run(text(graph), "qnn2", verify="full")
    assert [f.feature for f in result.report.findings_before if f.blocks] == [
        "attr:GRU.activations"
    ]
    assert not [f for f in result.report.findings_after if f.blocks]
