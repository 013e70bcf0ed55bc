"""scaler-to-arithmetic: offset off, times scale."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "scaler-to-arithmetic"
ML = ', "ai.onnx.ml" : 3'
BODY = "@y = ai.onnx.ml.Scaler <offset = [1.0, -2.0], scale = [0.5, 3.0]> (x)"
TYPES: dict[str, Any] = {
    "float": np.float32,
    "double": np.float64,
    "int32": np.int32,
    "int64": np.int64,
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", sorted(TYPES))
def test_types(dtype: str, place: str) -> None:
    text = written(BODY, f"{dtype}[N, 2] x", "float[N, 2]", place=place, imports=ML)
    feed: dict[str, Any] = {"x": np.array([[3, 4], [-1, 0]], TYPES[dtype])}
    if place == "branch":
        feed["c"] = np.array(True)
    assert_rewrite(PASS, text, feeds=[feed])


def test_doubles_are_cut_at_the_end() -> None:
    body = BODY.replace("[1.0, -2.0]", "[1000000000.0, 0.0]")
    text = written(body, "double[1, 2] x", "float[1, 2]", imports=ML)
    feed = {"x": np.array([[1e9 + 0.5, 1 + 1e-9]])}
    done = assert_rewrite(PASS, text, feeds=[feed])
    wanted = np.array([[0.25, 3.0]], np.float32)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


def test_a_file_without_the_default_domain() -> None:
    text = (
        '<ir_version: 8, opset_import: ["ai.onnx.ml" : 1]> g (int64[1, 2] x) => (float[1, 2] y) '
        "{ y = ai.onnx.ml.Scaler <offset = [0.0], scale = [2.0]> (x) }"
    )
    done = assert_rewrite(PASS, text, feeds=[{"x": np.array([[5, 6]])}])
    assert {entry.domain: entry.version for entry in done.after.opset_import}[""] >= 7


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=2, max_size=2))
def test_any_numbers(values: list[float]) -> None:
    text = written(BODY, "float[1, 2] x", "float[1, 2]", imports=ML)
    assert_rewrite(PASS, text, feeds=[{"x": np.array([values], np.float32)}])


def test_refuses_lists_that_do_not_fit() -> None:
    text = written(BODY.replace("-2.0", "1.0, 1.0"), "float[1, 2] x", "float[1, 2]", imports=ML)
    assert_refused(PASS, text, "there must be as many offsets as scales; there are 3 and 2")


def test_leaves_other_operators_alone() -> None:
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))


def test_refuses_an_unknown_dtype() -> None:
    body = "@u = local.Unknown (x)\n" + BODY.replace("(x)", "(@u)")
    text = written(body, "float[1, 2] x", "float[1, 2]", imports=f'{ML}, "local" : 1')
    assert_refused(PASS, text, "dtype")
