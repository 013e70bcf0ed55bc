"""col2im-to-conv-transpose: columns back into images."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "col2im-to-conv-transpose"


def text(image: list[int], block: list[int], columns: int | str, rows: int, **more: Any) -> str:
    attributes = more.pop("attributes", "")
    sizes = [", ".join(map(str, values)) for values in (image, block)]
    axes = len(image)
    body = f"@i = Constant <value = int64[{axes}] {{{sizes[0]}}}> ()\n"
    body += f"@b = Constant <value = int64[{axes}] {{{sizes[1]}}}> ()\n"
    body += f"@y = Col2Im {attributes} (x, @i, @b)"
    result = ", ".join(["N", "C", *(f"D{k}" for k in range(axes))])
    return written(body, f"float[N, {rows}, {columns}] x", f"float[{result}]", **more)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [18, 20])
def test_overlapping_blocks_are_added(opset: int, place: str) -> None:
    x = np.random.default_rng(0).standard_normal((2, 12, 12)).astype(np.float32)
    feed = {"x": x, **({"c": np.array(True)} if place == "branch" else {})}
    model = text([4, 5], [2, 2], 12, 12, opset=opset, place=place)
    done = assert_rewrite(PASS, model, feeds=[feed], rtol=1e-5, atol=1e-6)
    wanted = np.zeros((2, 3, 4, 5), np.float64)
    for row in range(3):
        for column in range(4):
            patch = x[:, :, row * 4 + column].reshape(2, 3, 2, 2)
            wanted[:, :, row : row + 2, column : column + 2] += patch
    np.testing.assert_allclose(outputs_of(done.after, feed)["y"], wanted, rtol=1e-5, atol=1e-5)


def test_strides_that_leave_a_rest_pads_and_dilations() -> None:
    attributes = "<strides = [2, 3], pads = [1, 0, 1, 2], dilations = [2, 1]>"
    model = text([6, 7], [2, 3], 9, 12, attributes=attributes, opset=18)
    x = np.random.default_rng(0).standard_normal((2, 12, 9)).astype(np.float32)
    assert_rewrite(PASS, model, feeds=[{"x": x}], rtol=1e-5, atol=1e-6)


@given(
    st.tuples(st.integers(3, 6), st.integers(3, 6)),
    st.tuples(st.integers(1, 3), st.integers(1, 3)),
    st.tuples(st.integers(1, 3), st.integers(1, 3)),
)
def test_any_blocks(image: tuple[int, int], block: tuple[int, int], steps: tuple[int, int]) -> None:
    counts = [(image[k] - block[k]) // steps[k] + 1 for k in range(2)]
    columns, rows = counts[0] * counts[1], 2 * block[0] * block[1]
    model = text(list(image), list(block), columns, rows, opset=18,
                 attributes=f"<strides = [{steps[0]}, {steps[1]}]>")  # fmt: skip
    x = np.random.default_rng(columns).standard_normal((1, rows, columns)).astype(np.float32)
    assert_rewrite(PASS, model, feeds=[{"x": x}], rtol=1e-5, atol=1e-5)
