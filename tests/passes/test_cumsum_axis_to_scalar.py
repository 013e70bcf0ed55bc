"""cumsum-axis-to-scalar: the axis as a number."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix import run
from graphfix.testing import assert_rewrite, outputs_of, parse
from tests.passes.lowering_models import PLACES, written

PASS = "cumsum-axis-to-scalar"
RNG = np.random.default_rng(5)


def text_of(axis: int, *, kind: str = "float", given: str = "", **how: Any) -> str:
    body = f"@a = Constant <value = int64[1] {{{axis}}}> ()\n@y = CumSum {given} (x, @a)"
    return written(body, f"{kind}[N, 3, 4] x", f"{kind}[N, 3, 4]", **how)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [11, 14, 21])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_a_stored_axis(axis: int, opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    x = RNG.integers(-9, 9, (2, 3, 4)).astype(np.float32)
    feed: dict[str, Any] = {"x": x}
    if place == "branch":
        feed["c"] = np.array(False)
    done = assert_rewrite(PASS, text_of(axis, opset=opset, place=place), feeds=[feed])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], np.cumsum(x, axis=axis))


@pytest.mark.parametrize("kind", ["float", "double", "int32", "int64"])
def test_types_and_attributes(kind: str) -> None:
    dtype: Any = {"float": np.float32, "double": np.float64}.get(kind, kind)
    x = RNG.integers(-9, 9, (2, 3, 4)).astype(dtype)
    text = text_of(1, kind=kind, given="<exclusive = 1, reverse = 1>")
    done = assert_rewrite(PASS, text, feeds=[{"x": x}])
    backward = np.flip(np.cumsum(np.flip(x, 1), axis=1), 1)
    np.testing.assert_array_equal(outputs_of(done.after, {"x": x})["y"], backward - x)


@given(st.integers(-2, 1), st.sampled_from(["int32", "int64"]))
def test_an_axis_that_is_fed(axis: int, kind: str) -> None:
    text = written("@y = CumSum (x, a)", f"float[2, N] x, {kind}[1] a", "float[2, N]")
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    feed: dict[str, Any] = {"x": x, "a": np.array([axis], kind)}
    done = assert_rewrite(PASS, text, feeds=[feed])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], np.cumsum(x, axis=axis))


def test_tflite_is_given_a_number() -> None:
    result = run(parse(text_of(1)), "tflite1.29", trust_rules=True, verify="full")
    assert result.exit_code == 0
    assert not result.report.findings_after
    (total,) = [node for node in result.model.graph.nodes if node.op == "CumSum"]
    assert total.inputs[1].shape == ()
