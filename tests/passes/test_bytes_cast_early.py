"""bytes-cast-early: uint8 is cast before it is moved."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "bytes-cast-early"


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(0, 255), min_size=4, max_size=4), st.integers(0, 4))
def test_any_bytes(values: list[int], end: int) -> None:
    text = written(
        f"@a = Constant <value_ints = [0]> ()\n@b = Constant <value_ints = [{end}]> ()\n"
        "@t = Slice (x, @a, @b)\n@y = Cast <to = 9> (@t)",
        "uint8[4] x",
        "bool[N]",
    )
    assert_rewrite(PASS, text, feeds=[{"x": np.array(values, np.uint8)}])
