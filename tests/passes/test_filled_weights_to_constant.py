"""filled-weights-to-constant: weights that ConstantOfShape fills are written out."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "filled-weights-to-constant"
FILLED = (
    "@s = Constant <value = int64[4] {2, 3, 1, 1}> ()\n"
    "@w = ConstantOfShape <value = float[1] {0.5}> (@s)\n@y = Conv <pads = [1, 0, 0, 1]> (x, @w)"
)


@settings(max_examples=10, deadline=None)
@given(st.integers(1, 3), st.integers(1, 3))
def test_any_size(outputs: int, kernel: int) -> None:
    text = written(
        FILLED.replace("{2, 3, 1, 1}", f"{{{outputs}, 3, {kernel}, {kernel}}}"),
        "float[1, 3, 4, 4] x",
        "float[A, B, C, D]",
    )
    data = np.random.default_rng(0).random((1, 3, 4, 4), np.float32)
    assert_rewrite(PASS, text, feeds=[{"x": data}])


def test_refuses_large_ones() -> None:
    from graphfix.testing import run_pass

    done = run_pass(
        PASS,
        written(FILLED, "float[1, 3, 4, 4] x", "float[1, 2, 5, 5]"),
        options={"max_elements": 5},
    )
    assert done.reasons == ["the weights must have at most max_elements elements; they have more"]
