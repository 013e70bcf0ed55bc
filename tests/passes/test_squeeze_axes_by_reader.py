"""squeeze-axes-by-reader: what reads the result says how many axes go."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import graphfix
from graphfix.testing import assert_rewrite, parse
from tests.passes.shape_models import text

PASS = "squeeze-axes-by-reader"
GEMM = "g (float[A,B,1,1] x, float[4,3] w) => (float[C,D] y) { s = Squeeze (x) y = Gemm (s, w) }"


def numbers(*shape: int, dtype: Any = np.float32) -> Any:
    return np.random.default_rng(3).integers(-4, 5, shape).astype(dtype)


@given(st.integers(2, 4), st.integers(2, 4))
def test_any_sizes(rows: int, columns: int) -> None:
    model = text(
        "g (float[A,1,B] x) => (float[C,D] y) { s = Squeeze (x) y = Transpose <perm = [1, 0]> (s) }"
    )
    assert_rewrite(PASS, model, feeds=[{"x": numbers(rows, 1, columns)}])


def test_for_tensorrt() -> None:
    result = graphfix.run(parse(text(GEMM)), "trt8.6")
    assert result.exit_code == 0
    assert [node.op_type for node in result.model.to_proto().graph.node] == ["Squeeze", "Gemm"]
