"""topk-of-computed-k: as many as there can be, then those that are wanted."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of

PASS = "topk-of-computed-k"
SMALLER = "s = Shape (x) n = Slice (s, one, two) k = Min (n, five)"


def text_of(
    shape: str = "2, N",
    kind: str = "float",
    body: str = SMALLER,
    inputs: str = "",
    attributes: str = "",
    opset: int = 13,
) -> str:
    return (
        f'<ir_version: 8, opset_import: ["": {opset}]> g ({kind}[{shape}] x{inputs}) => '
        f"({kind}[a, b] y, int64[a, b] i) <int64[1] one = {{1}}, int64[1] two = {{2}}, "
        f"int64[1] five = {{5}}> {{ {body} y, i = TopK {attributes} (x, k) }}"
    )


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9), st.booleans())
def test_the_smaller_of_a_size_and_a_constant(numbers: list[int], largest: bool) -> None:
    row = np.array(numbers, np.float32)
    x = np.stack([row, -row])
    attributes = f"<largest = {int(largest)}>"
    done = assert_rewrite(PASS, text_of(attributes=attributes), feeds=[{"x": x}])
    assert done.ops[-4:] == ["Pad", "TopK", "Slice", "Slice"]


@pytest.mark.parametrize("opset", [12, 13, 17])
@pytest.mark.parametrize("kind", ["float", "double", "int64", "int32"])
def test_types_and_the_lowest_numbers(kind: str, opset: int) -> None:
    dtype = np.dtype({"float": "f4", "double": "f8", "int64": "i8", "int32": "i4"}[kind])
    low: Any = -np.inf if dtype.kind == "f" else np.iinfo(dtype).min
    x = np.array([[low, 3, low], [1, low, 2]], dtype)
    done = assert_rewrite(PASS, text_of(kind=kind, opset=opset), feeds=[{"x": x}])
    found = outputs_of(done.after, {"x": x})
    assert found["i"].tolist() == [[1, 0, 2], [2, 0, 1]]
    assert found["y"].dtype == dtype


def test_a_size_that_is_known_needs_no_more_elements() -> None:
    text = text_of("2, 6", body="", inputs=", int64[1] k")
    x = np.arange(12, dtype=np.float32).reshape(2, 6)
    feeds = [{"x": x, "k": np.array([k])} for k in (1, 3, 6)]
    done = assert_rewrite(PASS, text, feeds=feeds, after=["TopK", "Slice", "Slice"])
    assert outputs_of(done.after, feeds[1])["y"].tolist() == [[5, 4, 3], [11, 10, 9]]
