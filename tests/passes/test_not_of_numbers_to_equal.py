"""not-of-numbers-to-equal: true where a number is zero."""

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.api import check as check_model
from graphfix.report import Status
from graphfix.testing import outputs_of, run_pass
from tests.passes.lowering_models import PLACES, written

PASS = "not-of-numbers-to-equal"
BODY = "@y = Not (x)"
VALUES = {
    "float": [0.0, -0.0, 1e-40, -2.5, np.inf, np.nan],
    "float16": [0.0, -0.0, 6e-8, -2.5, np.inf, np.nan],
    "int32": [0, 1, -1, 2**31 - 1],
    "int64": [0, 1, -1, -(2**63)],
}
TYPES: dict[str, Any] = {
    "float": np.float32,
    "float16": np.float16,
    "int32": np.int32,
    "int64": np.int64,
}


def check(text: str, feed: dict[str, Any]) -> list[str]:
    """Run the pass; onnxruntime cannot run what was there before, numpy says what is right."""
    done = run_pass(PASS, text)
    assert done.with_status(Status.APPLIED)
    onnx.checker.check_model(done.after, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    assert not run_pass(PASS, done.after).with_status(Status.APPLIED)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], np.logical_not(feed["x"]))
    return done.ops


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", sorted(VALUES))
@pytest.mark.parametrize("opset", [9, 11, 13, 17, 21])
def test_zero_and_the_rest(dtype: str, opset: int, place: str) -> None:
    if place == "function" and opset < 11:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    text = written(BODY, f"{dtype}[N] x", "bool[N]", opset=opset, place=place)
    feed: dict[str, Any] = {"x": np.array(VALUES[dtype], TYPES[dtype])}
    if place == "branch":
        feed["c"] = np.array(True)
    ops = check(text, feed)
    if place == "main":
        plain = opset >= 11 or dtype.startswith("int")
        assert ops == (["Equal"] if plain else ["Cast", "Not"])


@given(st.lists(st.floats(width=32), min_size=1, max_size=5), st.sampled_from([10, 17]))
def test_any_floats(values: list[float], opset: int) -> None:
    text = written(BODY, "float[N] x", "bool[N]", opset=opset)
    check(text, {"x": np.array(values, np.float32)})


@pytest.mark.parametrize("target", ["mnn3.6", "tract0.23", "tvm0.27"])
def test_a_file_that_breaks_the_types_of_onnx_is_mended_by_it(target: str) -> None:
    (found,) = check_model(onnx.parser.parse_model(written(BODY, "float[3] x", "bool[3]")), target)
    assert found.removed_by == (PASS,)
