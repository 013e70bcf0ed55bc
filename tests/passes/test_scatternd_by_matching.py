"""scatternd-by-matching: numbers of rows compared with every row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "scatternd-by-matching"
DATA = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize("reduction", ["add", "mul", "max", "min"])
@pytest.mark.parametrize("opset", [16, 18])
def test_reductions_of_equal_rows(opset: int, reduction: str) -> None:
    if opset == 16 and reduction in ("max", "min"):
        pytest.skip("max and min came with opset 18")
    text = written(
        f'@y = ScatterND <reduction = "{reduction}"> (x, i, u)',
        "float[6, 4] x, int64[3, 1] i, float[3, 4] u",
        "float[6, 4]",
        opset=opset,
    )
    feed = {
        "x": DATA.reshape(6, 4) - 9,
        "i": np.array([[1], [-1], [1]]),
        "u": np.arange(12, dtype=np.float32).reshape(3, 4) - 5,
    }
    assert_rewrite(PASS, text, feeds=[feed], rtol=1e-6)


@given(st.lists(st.tuples(st.integers(-2, 1), st.integers(-3, 2)), min_size=1, max_size=5))
def test_any_tuples(index: list[tuple[int, int]]) -> None:
    count = len(index)
    text = written(
        "@y = ScatterND (x, i, u)",
        f"int64[2, 3] x, int64[{count}, 2] i, int64[{count}] u",
        "int64[2, 3]",
    )
    feed = {"x": np.arange(6).reshape(2, 3), "i": np.array(index), "u": np.arange(count) + 10}
    assert_rewrite(PASS, text, feeds=[feed])
