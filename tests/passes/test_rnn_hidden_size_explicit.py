"""rnn-hidden-size-explicit: the attribute that TensorRT wants, and onnxruntime as well.

What is compared with is therefore what the reference evaluator computes without it.
"""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from graphfix.testing import outputs_of, run_pass
from tests.passes.shape_models import in_branch, text

PASS = "rnn-hidden-size-explicit"
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
RNG = np.random.default_rng(6)


def model(
    op: str, *, dtype: str = "float", size: str = "5", more: str = "", opset: int = 14
) -> onnx.ModelProto:
    rows = GATES[op] * 5
    return text(
        f"g ({dtype}[T,N,3] x, {dtype}[1,{rows},3] w, {dtype}[1,{rows},{size}] r) "
        f"=> ({dtype}[T,1,N,5] y, {dtype}[1,N,5] h) {{ y, h = {op}{more} (x, w, r) }}",
        opset,
    )


def feed(op: str, n: int = 2) -> dict[str, Any]:
    rows = GATES[op] * 5
    return {
        "x": RNG.standard_normal((4, n, 3)).astype(np.float32),
        "w": RNG.standard_normal((1, rows, 3)).astype(np.float32),
        "r": RNG.standard_normal((1, rows, 5)).astype(np.float32),
    }


def check_rewritten(before: onnx.ModelProto, feeds: list[dict[str, Any]]) -> onnx.ModelProto:
    """Rewrite, and compare what onnxruntime computes with the reference of the original."""
    after = run_pass(PASS, before).after
    checker: Any = onnx.checker
    checker.check_model(after, full_check=True)
    for given in feeds:
        evaluator: Any = ReferenceEvaluator(before)
        wanted: list[Any] = evaluator.run(None, given)
        found = list(outputs_of(after, given).values())
        for number, value in enumerate(found):
            right = np.asarray(wanted[number])
            np.testing.assert_allclose(value, right, rtol=1e-5, atol=1e-6)
        assert len(found) == len(wanted)
    return after


@pytest.mark.parametrize("opset", [7, 14])
@pytest.mark.parametrize("op", sorted(GATES))
def test_the_size_is_that_of_the_weights(op: str, opset: int) -> None:
    after = check_rewritten(model(op, opset=opset), [feed(op), feed(op, n=1)])
    assert [(a.name, a.i) for a in after.graph.node[0].attribute] == [("hidden_size", 5)]


def test_other_attributes_and_types() -> None:
    more = '<direction = "reverse">'
    for dtype in ("float", "double", "float16"):
        after = run_pass(PASS, model("GRU", dtype=dtype, more=more)).after
        names = {a.name for a in after.graph.node[0].attribute}
        assert names == {"direction", "hidden_size"}


def test_in_a_branch() -> None:
    fill = "<value = float[1] {0.1}>"
    line = (
        "LOCALa = Constant <value_ints = [1, 5, 3]> () LOCALb = Constant <value_ints = [1, 5, 5]> "
        f"() LOCALw = ConstantOfShape {fill} (LOCALa) LOCALu = ConstantOfShape {fill} (LOCALb) "
        "LOCALr, LOCALh = RNN (x, LOCALw, LOCALu)"
    )
    feeds: list[dict[str, Any]] = [
        {"x": RNG.standard_normal((4, 2, 3)).astype(np.float32), "c": np.array(c)}
        for c in (True, False)
    ]
    check_rewritten(in_branch(line, "float[4,2,3]", "float[4,1,2,5]"), feeds)
