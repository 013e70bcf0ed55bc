"""trilu-to-where: a triangle by a mask."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "trilu-to-where"


def body(upper: int, k: int) -> str:
    return f"@k = Constant <value_int = {k}> ()\n@y = Trilu <upper = {upper}> (x, @k)"


@given(st.integers(0, 5), st.integers(0, 5), st.integers(-6, 6), st.integers(0, 1), st.booleans())
def test_any_diagonal(rows: int, columns: int, k: int, upper: int, dynamic: bool) -> None:
    dims = "R, C" if dynamic else f"{rows}, {columns}"
    text = written(body(upper, k), f"int64[{dims}] x", f"int64[{dims}]")
    data = np.arange(rows * columns).reshape(rows, columns) + 1
    assert_rewrite(PASS, text, feeds=[{"x": data}])


@pytest.mark.parametrize("dims", ["3, 4", "R, C", "3, C"])
@pytest.mark.parametrize("upper", [0, 1])
def test_a_computed_diagonal(upper: int, dims: str) -> None:
    body = f"@y = Trilu <upper = {upper}> (x, k)"
    text = written(body, f"float[{dims}] x, int64 k", f"float[{dims}]")
    x = np.arange(12, dtype=np.float32).reshape(3, 4) + 1
    feeds = [{"x": x, "k": np.array(k)} for k in (-9, -2, 0, 1, 5)]
    assert_rewrite(PASS, text, feeds=feeds)
