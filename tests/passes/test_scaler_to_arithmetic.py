"""scaler-to-arithmetic: offset off, times scale."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "scaler-to-arithmetic"
ML = ', "ai.onnx.ml" : 3'
BODY = "@y = ai.onnx.ml.Scaler <offset = [1.0, -2.0], scale = [0.5, 3.0]> (x)"


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
