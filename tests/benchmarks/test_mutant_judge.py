"""The judge of `benchmarks/mutants/`: numpy in float64 against what a result computes."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, parser

from benchmarks.mutants import judge as judging


def model(text: str, kind: str) -> ModelProto:
    head = '<ir_version: 8, opset_import: ["" : 17]> '
    form = f"g ({kind}[N, 50] x) => ({kind}[N, 50] y) <{kind} f = {{FACTOR}}> "
    return parser.parse_model(head + (form + text).replace("FACTOR", "3"))


@pytest.mark.parametrize("kind", ["float", "double", "int32", "int8"])
def test_a_wrong_result_differs_and_a_right_one_does_not(kind: str) -> None:
    original = model("{ y = Mul (x, f) }", kind)
    trials = judging.prepare(original, {}, {"N": (4, 90)}, special=False, seed=1)
    assert sum(trial.feed["x"].size for trial in trials) >= judging.VALUES
    assert {trial.feed["x"].shape[0] for trial in trials} == {4, 90}
    for text in ("{ y = Mul (f, x) }", "{ a = Add (x, x)  y = Add (a, x) }"):
        assert judging.judge(model(text, kind), trials).status in ("equal", "below")
    found = judging.judge(model("{ y = Add (x, f) }", kind), trials)
    assert (found.status, found.excess > 1) == ("differs", True)


def test_the_tolerance_is_the_stated_one() -> None:
    original = model("{ y = Identity (x) }", "float")
    trials = judging.prepare(original, {}, {"N": (4, 90)}, special=False, seed=1)
    trial = trials[0]
    magnitude = np.abs(trial.feed["x"]).max()
    np.testing.assert_allclose(trial.allowed, [8 * 2.0**-23 * magnitude])
    below = model("{ g = Constant <value = float {1.0000005}> ()  y = Mul (x, g) }", "float")
    above = model("{ g = Constant <value = float {1.00001}> ()  y = Mul (x, g) }", "float")
    assert judging.judge(below, trials).status == "below"
    assert judging.judge(above, trials).status == "differs"


def test_another_shape_or_type_is_a_difference() -> None:
    original = model("{ y = Identity (x) }", "float")
    trials = judging.prepare(original, {}, {"N": (4, 90)}, special=False, seed=1)
    turned = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[N, 50] x) => (float[50, N] y) '
        "{ y = Transpose (x) }"
    )
    assert judging.judge(turned, trials).text.startswith("shape [50, 4] for [4, 50]")
