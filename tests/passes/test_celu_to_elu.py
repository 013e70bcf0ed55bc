"""celu-to-elu: both parts written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.passes.lowering_models import PLACES, Array, assert_activation, assert_activation_of

PASS = "celu-to-elu"


def reference(x: Array, alpha: float = 1.0) -> Array:
    return np.maximum(x, 0) + np.minimum(0, alpha * np.expm1(x / alpha))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [12, 17, 21])
def test_values(opset: int, place: str) -> None:
    assert_activation(PASS, "Celu (x)", reference, opset=opset, place=place)


@pytest.mark.parametrize("alpha", [0.3, 2.0])
def test_another_slope(alpha: float) -> None:
    assert_activation(PASS, f"Celu <alpha = {alpha}> (x)", lambda x: reference(x, alpha))


@given(st.lists(st.floats(-1e4, 1e4, width=32), min_size=1, max_size=6))
def test_any_numbers(numbers: list[float]) -> None:
    assert_activation_of(PASS, "Celu (x)", numbers, opset=12)
