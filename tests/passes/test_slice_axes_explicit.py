"""slice-axes-explicit: the leading axes by name."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "slice-axes-explicit"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [10, 13, 18])
def test_the_leading_axis(opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    text = written("@y = Slice (x, s, e)", "float[N, 3] x, int64[1] s, int64[1] e", "float[M, 3]",
                   opset=opset, place=place)  # fmt: skip
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    feed = {"x": x, "s": np.array([1]), "e": np.array([-1])}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], x[1:-1])


@given(st.lists(st.sampled_from([1, 2, -1]), min_size=1, max_size=3))
def test_steps_after_omitted_axes(steps: list[int]) -> None:
    count = len(steps)
    starts = [0 if step > 0 else -1 for step in steps]
    ends = [9 if step > 0 else -9 for step in steps]

    def listed(values: list[int]) -> str:
        return "{" + ", ".join(map(str, values)) + "}"

    body = (
        f"@s = Constant <value = int64[{count}] {listed(starts)}> ()\n"
        f"@e = Constant <value = int64[{count}] {listed(ends)}> ()\n"
        f"@t = Constant <value = int64[{count}] {listed(steps)}> ()\n"
        '@y = Slice (x, @s, @e, "", @t)'
    )
    text = written(body, "int32[3, 4, 2] x", "int32[A, B, C]")
    x = np.arange(24, dtype=np.int32).reshape(3, 4, 2)
    done = assert_rewrite(PASS, text, feeds=[{"x": x}])
    wanted = x[tuple(slice(None, None, step) for step in steps)]
    np.testing.assert_array_equal(outputs_of(done.after, {"x": x})["y"], wanted)
