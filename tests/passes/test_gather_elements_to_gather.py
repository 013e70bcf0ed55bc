"""gather-elements-to-gather: numbers of elements of the flattened data."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "gather-elements-to-gather"
DATA = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@given(st.lists(st.integers(-3, 2), min_size=4, max_size=4))
def test_any_index(index: list[int]) -> None:
    text = written(
        "@y = GatherElements <axis = 1> (x, i)", "float[2, 3] x, int32[2, 2] i", "float[2, 2]"
    )
    feed = {"x": DATA[:, :, 0], "i": np.array(index, np.int32).reshape(2, 2)}
    assert_rewrite(PASS, text, feeds=[feed])


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize(
    "dims", [("A, B, C", "P, Q, R"), ("2, B, 4", "P, 2, R"), ("A, 3, 4", "P, 1, 3")]
)
def test_sizes_known_at_run_time(dims: tuple[str, str], axis: int, known: bool) -> None:
    shape = (1, 1, 3) if dims[1].endswith("1, 3") else (2, 2, 3)
    size = DATA.shape[axis]
    index = np.random.default_rng(axis).integers(-size, size, shape).astype(np.int32)
    body, inputs = f"@y = GatherElements <axis = {axis}> (x, i)", f"float[{dims[0]}] x"
    feed: dict[str, Any] = {"x": DATA}
    if known:
        numbers = ", ".join(map(str, index.reshape(-1)))
        sizes = ", ".join(map(str, shape))
        body = f"i = Constant <value = int32[{sizes}] {{{numbers}}}> ()\n{body}"
    else:
        inputs += f", int32[{dims[1]}] i"
        feed["i"] = index
    assert_rewrite(PASS, written(body, inputs, f"float[{dims[1]}]"), feeds=[feed])
