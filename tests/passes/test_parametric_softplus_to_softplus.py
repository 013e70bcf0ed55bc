"""parametric-softplus-to-softplus: Softplus between two products."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import parser

import graphfix
from graphfix.passes.contrib.parametric_softplus_to_softplus import evaluate
from graphfix.report import Verdict
from graphfix.testing import assert_refused, assert_rewrite, assert_untouched, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "parametric-softplus-to-softplus"
MODELS = {("", "ParametricSoftplus"): evaluate}
BODY = "@y = ParametricSoftplus <alpha = 2.0, beta = 0.5> (x)"
X = np.array([-3, -0.5, 0, 1, 7], np.float32)
WANTED = 2 * np.log1p(np.exp(X / 2))


@pytest.mark.parametrize("opset", [9, 17])
@pytest.mark.parametrize("place", PLACES)
def test_is_written_out(place: str, opset: int) -> None:
    text = written(BODY, "float[5] x", "float[5]", place=place, opset=opset)
    feed = {"x": X, **({"c": np.array(True)} if place == "branch" else {})}
    done = assert_rewrite(PASS, text, feeds=[feed], evaluators=MODELS, rtol=1e-6)
    found = outputs_of(done.after, feed)["y"]
    np.testing.assert_allclose(found, WANTED, rtol=1e-6, atol=1e-6)
    assert found.dtype == np.float32


@pytest.mark.parametrize("opset", [7, 17])
def test_the_model_of_it_computes_the_definition(opset: int) -> None:
    text = written(BODY, "float[5] x", "float[5]", opset=opset)
    done = assert_rewrite(PASS, text, feeds=[{"x": X}], evaluators=MODELS, rtol=1e-6)
    assert done.ops == ["Mul", "Softplus", "Mul"]
    (computed,) = evaluate([X], {"alpha": 2.0, "beta": 0.5})
    np.testing.assert_allclose(computed, WANTED, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("rows", "columns"), [(2, 3), (1, 1), (0, 3)])
def test_sizes_may_be_open_and_halves_stay_halves(rows: int, columns: int) -> None:
    text = written(BODY, "float16[N, M] x", "float16[N, M]")
    x = np.linspace(-2, 2, rows * columns, dtype=np.float16).reshape(rows, columns)
    done = assert_rewrite(PASS, text, feeds=[{"x": x}], evaluators=MODELS, rtol=2e-3, atol=1e-3)
    found = outputs_of(done.after, {"x": x})["y"]
    assert (found.dtype, found.shape) == (np.float16, (rows, columns))


@settings(max_examples=10, deadline=None)
@given(st.lists(st.floats(-8, 8, width=16), min_size=1, max_size=6), st.floats(-4, 4, width=16))
def test_any_numbers(numbers: list[float], factor: float) -> None:
    body = BODY.replace("2.0", f"{factor:.9f}")
    x = np.array(numbers, np.float32)
    text = written(body, "float[N] x", "float[N]")
    assert_rewrite(PASS, text, feeds=[{"x": x}], evaluators=MODELS, rtol=1e-5, atol=1e-6)


def test_what_follows_is_typed() -> None:
    text = written(
        "@h = " + BODY.removeprefix("@y = ") + "\n@y = Neg (@h)", "float[N] x", "float[N]"
    )
    assert not [f for f in graphfix.check(parser.parse_model(text), target="trt8") if f.missing]


def test_a_target_without_it_gets_plain_operators_proved() -> None:
    text = written(BODY, "float[2, 3] x", "float[2, 3]", opset=7)
    result = graphfix.run(parser.parse_model(text), "trt8.6")
    assert (result.exit_code, result.report.verification.status) == (0, Verdict.EQUAL)


@pytest.mark.parametrize(
    ("kind", "body", "reason"),
    [
        ("double[3]", BODY, "x must be float32 or float16; it is float64"),
        ("int32[3]", BODY, "x must be float32 or float16; it is int32"),
        ("float[3]", "@y = ParametricSoftplus <alpha = 1.0> (x)", "beta must be given"),
        ("float[3]", "@y = ParametricSoftplus <beta = 1.0> (x)", "alpha must be given"),
    ],
)
def test_refuses(kind: str, body: str, reason: str) -> None:
    assert_refused(PASS, written(body, f"{kind} x", kind), reason)


def test_leaves_others_alone() -> None:
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))
