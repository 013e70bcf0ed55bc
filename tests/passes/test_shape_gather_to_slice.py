"""shape-gather-to-slice: elements of shape vectors by Slice."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import numpy_helper

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.shape_models import text

PASS = "shape-gather-to-slice"
X = np.zeros((2, 3, 4, 5), np.float32)


@pytest.mark.parametrize("opset", [7, 9, 10, 11, 13, 18])
@pytest.mark.parametrize(("index", "expected"), [(2, 4), (-1, 5), (-4, 2), (0, 2)])
def test_a_scalar_index(opset: int, index: int, expected: int) -> None:
    model = text(
        f"g (float[N,M,K,L] x) => (int64 y) <int64 i = {{{index}}}> "
        "{ s = Shape (x) y = Gather (s, i) }",
        opset,
    )
    done = assert_rewrite(PASS, model, feeds=[{"x": X}], after=["Shape", "Slice", "Squeeze"])
    assert int(outputs_of(done.after, {"x": X})["y"]) == expected


@given(indices=st.lists(st.integers(-5, 4), min_size=1, max_size=6))
def test_any_indices(indices: list[int]) -> None:
    model = text("g (int64[5] s) => (int64[K] y) <int64[1] i = {0}> { y = Gather (s, i) }")
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.array(indices), "i"))
    feed = {"s": np.array([3, 1, 4, 1, 5])}
    done = assert_rewrite(PASS, model, feeds=[feed])
    assert outputs_of(done.after, feed)["y"].tolist() == feed["s"][indices].tolist()
    assert "Gather" not in done.ops
