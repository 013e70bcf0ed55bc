"""eye-like-to-equal: a diagonal of ones, as a constant or compared at run time."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "eye-like-to-equal"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dims", ["3, 4", "3, C", "R, 4", "R, C"])
@pytest.mark.parametrize("k", [0, 1, -2])
def test_sizes(k: int, dims: str, place: str) -> None:
    text = written(f"@y = EyeLike <k = {k}> (x)", f"float[{dims}] x", f"float[{dims}]", place=place)
    feed: dict[str, Any] = {"x": np.ones((3, 4), np.float32)}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], np.eye(3, 4, k))


@pytest.mark.parametrize("dims", ["3, 4", "R, C"])
@pytest.mark.parametrize(
    ("code", "kind"), [(1, "float"), (11, "double"), (6, "int32"), (7, "int64")]
)
@pytest.mark.parametrize("opset", [9, 22])
def test_types(opset: int, code: int, kind: str, dims: str) -> None:
    if opset == 9 and "R" in dims:
        pytest.skip("opset 9 has no Range")
    body = f"@y = EyeLike <dtype = {code}> (x)"
    text = written(body, f"int32[{dims}] x", f"{kind}[{dims}]", opset=opset)
    assert_rewrite(PASS, text, feeds=[{"x": np.zeros((3, 4), np.int32)}])


@given(st.integers(0, 5), st.integers(0, 5), st.integers(-6, 6))
def test_any_diagonal(rows: int, columns: int, k: int) -> None:
    text = written(f"@y = EyeLike <k = {k}> (x)", "int64[R, C] x", "int64[R, C]")
    assert_rewrite(PASS, text, feeds=[{"x": np.ones((rows, columns), np.int64)}])
