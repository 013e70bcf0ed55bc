"""compress-to-gather: what a condition selects."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "compress-to-gather"
DATA = np.arange(12, dtype=np.float32).reshape(3, 4)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.booleans(), max_size=4), st.booleans())
def test_any_condition(chosen: list[bool], flat: bool) -> None:
    attribute, output = ("", "int64[p]") if flat else ("<axis = 1>", "int64[p, q]")
    text = written(f"@y = Compress {attribute} (x, c)", "int64[N, 4] x, bool[K] c", output)
    feed = {"x": np.arange(8).reshape(2, 4), "c": np.array(chosen, bool)}
    assert_rewrite(PASS, text, feeds=[feed])


@pytest.mark.parametrize("condition", [[1, 0, 1, 1, 0], [1, 1], [0, 0, 1], [0, 0], [1, 0] * 20])
@pytest.mark.parametrize("axis", [0, -1, None])
def test_a_constant_condition_longer_than_a_computed_axis(
    condition: list[int], axis: int | None
) -> None:
    attribute = "" if axis is None else f"<axis = {axis}>"
    words = ", ".join(str(bit) for bit in condition)
    body = (
        f"c = Constant <value = bool[{len(condition)}] {{{words}}}> ()\n"
        f"@y = Compress {attribute} (x, c)"
    )
    text = written(body, "float[N, M] x", "float[p]" if axis is None else "float[p, q]")
    feeds = [{"x": DATA[:a, :b]} for a in (3, 0, 1) for b in (4, 2, 0)]
    assert_rewrite(PASS, text, feeds=feeds)
