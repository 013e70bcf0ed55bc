"""flatten-to-reshape: the two sizes written down."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "flatten-to-reshape"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [9, 13, 17])
@pytest.mark.parametrize("dtype", ["float", "int64"])
def test_behind_the_last_axis(dtype: str, opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    text = written(
        "@y = Flatten <axis = 2> (x)", f"{dtype}[N,3] x", f"{dtype}[M,1]", opset=opset, place=place
    )
    kind = np.float32 if dtype == "float" else np.int64
    feed: dict[str, Any] = {"x": np.arange(6).reshape(2, 3).astype(kind)}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    assert outputs_of(done.after, feed)["y"].shape == (6, 1)
    if place == "main":
        assert done.ops == ["Reshape"]


@pytest.mark.parametrize(("axis", "shape"), [(0, (1, 24)), (1, (2, 12)), (-1, (6, 4))])
def test_known_sizes(axis: int, shape: tuple[int, int]) -> None:
    text = written(
        f"@y = Flatten <axis = {axis}> (x)", "float[2,3,4] x", f"float[{shape[0]},{shape[1]}]"
    )
    feed = {"x": np.arange(24, dtype=np.float32).reshape(2, 3, 4)}
    done = assert_rewrite(PASS, text, feeds=[feed])
    assert outputs_of(done.after, feed)["y"].shape == shape


def test_refusals() -> None:
    text = written("@y = Flatten <axis = 1> (x)", "float[N,3] x", "float[N,3]")
    assert_refused(PASS, text, "the sizes of x must be known")


def test_leaves_others_alone() -> None:
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))


@pytest.mark.parametrize("axis", [1, 2])
def test_a_size_of_0_is_refused(axis: int) -> None:
    text = written(f"@y = Flatten <axis = {axis}> (x)", "float[2,0,3] x", "float[A,B]")
    assert_refused(PASS, text, "none be 0")
