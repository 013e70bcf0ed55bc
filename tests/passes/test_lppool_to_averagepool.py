"""lppool-to-averagepool: roots of sums of powers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "lppool-to-averagepool"


@pytest.mark.parametrize("opset", [7, 11, 18])
@pytest.mark.parametrize("p", [1, 2, 3, 4])
@pytest.mark.parametrize("pads", ["", ", pads = [1, 0, 1, 1], strides = [2, 1]"])
def test_like_onnxruntime(pads: str, p: int, opset: int) -> None:
    text = written(
        f"@y = LpPool <kernel_shape = [2, 3], p = {p}{pads}> (x)",
        "float[1, 2, 5, 6] x",
        "float[1, 2, A, B]",
        opset=opset,
    )
    x = np.random.default_rng(0).standard_normal((1, 2, 5, 6)).astype(np.float32)
    assert_rewrite(PASS, text, feeds=[{"x": x}], rtol=1e-4, atol=1e-5)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.floats(-9, 9, width=32), min_size=2, max_size=6))
def test_any_numbers(numbers: list[float]) -> None:
    text = written(
        "@y = LpPool <kernel_shape = [2], p = 3> (x)", "float[1, 1, N] x", "float[1, 1, M]"
    )
    x = np.array([[numbers]], np.float32)
    assert_rewrite(PASS, text, feeds=[{"x": x}], rtol=1e-4, atol=1e-4)
