"""pow-exponent-like-base: operands of one type."""

import numpy as np
import onnx
import pytest

import graphfix
from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "pow-exponent-like-base"
X = np.array([-3.5, -1, -0.0, 0.25, 1, 7.5, 30], np.float32)


@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_computed_exponents(kind: str) -> None:
    text = written("@y = Pow (x, n)", f"float[N] x, {kind}[1] n", "float[N]")
    feeds = [{"x": X, "n": np.array([n], kind)} for n in (-2, -1, 0, 1, 2, 3, 7)]
    assert_rewrite(PASS, text, feeds=feeds, after=["Cast", "Pow"], rtol=3e-7)


@pytest.mark.parametrize("kind", ["int32", "int64", "float"])
def test_a_base_of_float16(kind: str) -> None:
    text = written("@y = Pow (x, n)", f"float16[N] x, {kind}[1] n", "float16[N]")
    dtype = "float32" if kind == "float" else kind
    feeds = [{"x": X.astype(np.float16), "n": np.array([n], dtype)} for n in (-1, 0, 2)]
    assert_rewrite(PASS, text, feeds=feeds, after=["Cast", "Pow"], rtol=1e-3)


@pytest.mark.parametrize(
    ("base", "exponent", "accuracy"),
    [
        ("float", "int64", "approximate"),
        ("float", "int32", "approximate"),
        ("float", "double", "approximate"),
        ("float16", "float", "approximate"),
        ("float", "int16", "exact"),
        ("float", "float16", "exact"),
        ("double", "int32", "exact"),
        ("double", "float", "exact"),
    ],
)
def test_what_the_type_of_the_base_holds_is_exact(base: str, exponent: str, accuracy: str) -> None:
    text = written("@y = Pow (x, n)", f"{base}[2] x, {exponent}[2] n", f"{base}[2]")
    assert _accuracy(text) == accuracy


def test_a_constant_that_the_type_of_the_base_holds_is_exact() -> None:
    body = "@n = Constant <value = int64 {-1}> ()\n@y = Pow (x, @n)"
    assert _accuracy(written(body, "float[2] x", "float[2]")) == "exact"


def _accuracy(text: str) -> str:
    model = onnx.parser.parse_model(text)
    result = graphfix.run(model, passes=[PASS], verify="off")
    (outcome,) = [outcome for outcome in result.report.outcomes if outcome.pass_id == PASS]
    (site,) = outcome.sites
    return str(site.accuracy)
