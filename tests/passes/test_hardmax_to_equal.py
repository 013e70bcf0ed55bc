"""hardmax-to-equal: the first largest element along an axis."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "hardmax-to-equal"


@given(st.lists(st.integers(-2, 2), min_size=6, max_size=6), st.integers(-2, 1))
def test_every_axis(numbers: list[int], axis: int) -> None:
    text = written(f"@y = Hardmax <axis = {axis}> (x)", "float[2, 3] x", "float[2, 3]")
    x = np.array(numbers, np.float32).reshape(2, 3)
    assert_rewrite(PASS, text, feeds=[{"x": x}])
