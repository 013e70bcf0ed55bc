"""squeeze-axes-by-reader: what reads the result says how many axes go."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphfix
from graphfix.testing import assert_rewrite, outputs_of, parse
from tests.passes.shape_models import text

PASS = "squeeze-axes-by-reader"
GEMM = "g (float[A,B,1,1] x, float[4,3] w) => (float[C,D] y) { s = Squeeze (x) y = Gemm (s, w) }"


def numbers(*shape: int, dtype: Any = np.float32) -> Any:
    return np.random.default_rng(3).integers(-4, 5, shape).astype(dtype)


@pytest.mark.parametrize("opset", [11, 13, 21])
@pytest.mark.parametrize("batch", [2, 5])
def test_gemm_takes_a_matrix(opset: int, batch: int) -> None:
    feed = {"x": numbers(batch, 4, 1, 1), "w": numbers(4, 3)}
    done = assert_rewrite(PASS, text(GEMM, opset), feeds=[feed], after=["Squeeze", "Gemm"])
    np.testing.assert_array_equal(
        outputs_of(done.after, feed)["y"], feed["x"].reshape(batch, 4) @ feed["w"]
    )


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
