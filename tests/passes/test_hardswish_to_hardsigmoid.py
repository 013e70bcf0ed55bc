"""hardswish-to-hardsigmoid: the definition written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.passes.lowering_models import PLACES, Array, assert_activation, assert_activation_of

PASS = "hardswish-to-hardsigmoid"


def reference(x: Array) -> Array:
    return x * np.clip(x / 6 + 0.5, 0, 1)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [14, 17, 22])
def test_values(opset: int, place: str) -> None:
    assert_activation(PASS, "HardSwish (x)", reference, opset=opset, place=place)


@given(st.lists(st.floats(-1e4, 1e4, width=32), min_size=1, max_size=6))
def test_any_numbers(numbers: list[float]) -> None:
    assert_activation_of(PASS, "HardSwish (x)", numbers, opset=14)
