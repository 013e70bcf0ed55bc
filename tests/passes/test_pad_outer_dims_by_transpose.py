"""pad-outer-dims-by-transpose: padded axes come last."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "pad-outer-dims-by-transpose"
DATA = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def body(pads: list[int]) -> str:
    return f"@p = Constant <value = int64[6] {{{str(pads)[1:-1]}}}> ()\n@y = Pad (x, @p)"


@given(st.integers(0, 1), st.lists(st.integers(0, 3), min_size=2, max_size=2))
def test_any_axis(axis: int, amounts: list[int]) -> None:
    pads = [0] * 6
    pads[axis], pads[axis + 3] = amounts[0] + 1, amounts[1]
    text = written(body(pads), "float[2, 3, 4] x", "float[A, B, C]")
    assert_rewrite(PASS, text, feeds=[{"x": DATA}])
