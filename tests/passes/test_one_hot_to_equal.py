"""one-hot-to-equal: an index compared with the values of the classes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of, run_pass
from tests.passes.lowering_models import written

PASS = "one-hot-to-equal"


def body(axis: int, depth: int) -> str:
    return f"@d = Constant <value_ints = [{depth}]> ()\n@y = OneHot <axis = {axis}> (i, @d, v)"


@given(st.lists(st.integers(-9, 9), max_size=5), st.integers(1, 6))
def test_any_indices(index: list[int], depth: int) -> None:
    text = written(body(-1, depth), "int64[N] i, int64[2] v", f"int64[N, {depth}]")
    feed = {"i": np.array(index, np.int64), "v": np.array([0, 1])}
    assert_rewrite(PASS, text, feeds=[feed])


@pytest.mark.parametrize("axis", [-1, 0])
@pytest.mark.parametrize("kinds", [("int64", "int64"), ("int32", "int32"), ("int64", "int32")])
@pytest.mark.parametrize("depth", ["", "[1]"])
def test_a_computed_depth(depth: str, kinds: tuple[str, str], axis: int) -> None:
    text = written(
        f"@y = OneHot <axis = {axis}> (i, d, v)",
        f"{kinds[0]}[N] i, {kinds[1]}{depth} d, float[2] v",
        "float[A, B]",
    )
    feeds = [
        {
            "i": np.array([0, 2, -1, 7], kinds[0]),
            "d": np.array([count] if depth else count, kinds[1]),
            "v": np.array([-2.0, 5.0], np.float32),
        }
        for count in (1, 3, 5)
    ]
    assert_rewrite(PASS, text, feeds=feeds)


def test_a_computed_depth_of_floats_is_cut() -> None:
    text = written("@y = OneHot (i, d, v)", "float[N] i, float d, float[2] v", "float[A, B]")
    done = run_pass(PASS, text)
    feed = {
        "i": np.array([-1.7, 1.7, 0.2, 4.9], np.float32),
        "d": np.array(5.0, np.float32),
        "v": np.array([0, 1], np.float32),
    }
    assert outputs_of(done.after, feed)["y"].tolist() == np.eye(5)[[4, 1, 0, 4]].tolist()
