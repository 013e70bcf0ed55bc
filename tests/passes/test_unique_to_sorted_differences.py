"""unique-to-sorted-differences: neighbours of what is sorted."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite

PASS = "unique-to-sorted-differences"


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9), st.sampled_from(["int64", "double"]))
def test_any_numbers(numbers: list[int], kind: str) -> None:
    size = len(numbers)
    text = f'<ir_version: 8, opset_import: ["" : 13]> g ({kind}[{size}] x) => '
    text += f"({kind}[N] u, int64[N] f, int64[{size}] i, int64[N] c) {{ u, f, i, c = Unique (x) }}"
    dtype = {"int64": np.int64, "double": np.float64}[kind]
    assert_rewrite(PASS, text, feeds=[{"x": np.array(numbers, dtype)}])
