"""pad-by-repeating: reflect, edge and wrap by Gather and Concat."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, run_pass
from tests.passes.lowering_models import written
from tests.sessions import session_of

PASS = "pad-by-repeating"
DATA = np.arange(20, dtype=np.float32).reshape(4, 5)


def body(mode: str, pads: list[int]) -> str:
    return f'@p = Constant <value_ints = {pads}> ()\n@y = Pad <mode = "{mode}"> (x, @p)'


@given(
    st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 3), st.integers(0, 4)),
    st.sampled_from(["reflect", "edge"]),
)
def test_any_pads(pads: tuple[int, ...], mode: str) -> None:
    text = written(body(mode, list(pads)), "float[4, N] x", "float[A, B]")
    assert_rewrite(PASS, text, feeds=[{"x": DATA}])


@pytest.mark.parametrize("dims", ["2, {}", "M, N"])
@pytest.mark.parametrize(("before", "after"), [(1, 0), (0, 2), (5, 4), (2, 7), (7, 1)])
def test_wrap_goes_around_an_axis_that_is_shorter_than_the_pad(
    dims: str, before: int, after: int
) -> None:
    for size in (1, 2, 3, 8):
        text = written(
            body("wrap", [0, before, 0, after]),
            f"float[{dims.format(size)}] x",
            "float[A, B]",
            opset=19,
        )
        x = np.arange(2 * size, dtype=np.float32).reshape(2, size)
        given_ = session_of(run_pass(PASS, text).after).run(None, {"x": x})[0]
        wanted = np.pad(x, np.array([(0, 0), (before, after)]), mode="wrap")
        np.testing.assert_array_equal(given_, wanted)


@pytest.mark.parametrize("dims", ["4, 5", "M, N"])
@pytest.mark.parametrize("mode", ["reflect", "edge", "wrap"])
@pytest.mark.parametrize(
    "pads", [[-1, 0, 2, 0], [2, 0, -1, 0], [-1, 1, -1, 2], [0, -2, 0, -1], [1, -2, 2, 1]]
)
def test_negative_pads_cut_first(pads: list[int], mode: str, dims: str) -> None:
    text = written(body(mode, pads), f"float[{dims}] x", "float[A, B]", opset=19)
    assert_rewrite(PASS, text, feeds=[{"x": DATA}])
