"""shape-range-to-slice: the same sizes for every start and end."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.shape_models import in_branch, text

PASS = "shape-range-to-slice"
X = np.zeros((2, 3, 4), np.float32)


@pytest.mark.parametrize("opset", [15, 17, 19, 21])
@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ("start = 1", [3, 4]),
        ("end = -1", [2, 3]),
        ("start = -2, end = 2", [3]),
        ("start = 2, end = 1", []),
        ("start = -9, end = 9", [2, 3, 4]),
        ("start = 7", []),
    ],
)
def test_sizes(opset: int, attributes: str, expected: list[int]) -> None:
    model = text(f"g (float[N,M,K] x) => (int64[L] y) {{ y = Shape <{attributes}> (x) }}", opset)
    done = assert_rewrite(PASS, model, feeds=[{"x": X}], after=["Shape", "Slice"])
    assert outputs_of(done.after, {"x": X})["y"].tolist() == expected


def test_in_a_branch() -> None:
    model = in_branch("LOCALr = Shape <start = 1, end = 3> (x)", "float[N,M,K]", "int64[2]")
    done = assert_rewrite(PASS, model, feeds=[{"x": X, "c": np.array(True)}])
    assert outputs_of(done.after, {"x": X, "c": np.array(False)})["y"].tolist() == [3, 4]


@given(start=st.integers(-5, 5), end=st.integers(-5, 5), rank=st.integers(0, 4))
def test_every_start_and_end(start: int, end: int, rank: int) -> None:
    dims = ",".join(f"D{i}" for i in range(rank))
    model = text(
        f"g (float[{dims}] x) => (int64[L] y) {{ y = Shape <start = {start}, end = {end}> (x) }}"
    )
    if rank == 0:
        model.graph.input[0].type.tensor_type.shape.SetInParent()
    x = np.zeros(tuple(range(2, 2 + rank)), np.float32)
    done = assert_rewrite(PASS, model, feeds=[{"x": x}])
    low = min(max(start + rank if start < 0 else start, 0), rank)
    high = min(max(end + rank if end < 0 else end, 0), rank)
    assert outputs_of(done.after, {"x": x})["y"].tolist() == list(x.shape[low:high])
