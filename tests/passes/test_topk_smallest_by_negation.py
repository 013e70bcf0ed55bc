"""topk-smallest-by-negation: the order turned round, and back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of

PASS = "topk-smallest-by-negation"
NUMBERS = st.sampled_from([-np.inf, -2.5, -0.0, 0.0, 1e-3, 7.0, np.inf])


def text_of(kind: str = "float", attributes: str = "largest = 0", opset: int = 13) -> str:
    return (
        f'<ir_version: 8, opset_import: ["": {opset}]> g ({kind}[N, 6] x) => ({kind}[N, b] y, '
        f"int64[N, b] i) <int64[1] k = {{4}}> {{ y, i = TopK <{attributes}> (x, k) }}"
    )


@settings(max_examples=40, deadline=None)
@given(st.lists(NUMBERS, min_size=6, max_size=6))
def test_any_order(numbers: list[float]) -> None:
    x = np.array([numbers, numbers[::-1]], np.float32)
    assert_rewrite(PASS, text_of(), feeds=[{"x": x}], after=["Neg", "TopK", "Neg"])


@pytest.mark.parametrize("opset", [11, 13, 17])
@pytest.mark.parametrize("kind", ["float", "double"])
def test_values(kind: str, opset: int) -> None:
    x = np.array([[3, 1, 2, 1, 9, 0]], "f4" if kind == "float" else "f8")
    done = assert_rewrite(PASS, text_of(kind, opset=opset), feeds=[{"x": x}])
    found = outputs_of(done.after, {"x": x})
    assert found["y"].tolist() == [[0, 1, 1, 2]]
    assert found["i"].tolist() == [[5, 1, 3, 2]]
