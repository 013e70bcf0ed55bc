"""celu-to-elu: both parts written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched, outputs_of
from tests.passes.lowering_models import (
    PLACES,
    Array,
    assert_activation,
    assert_activation_of,
    written,
)

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


def test_not_a_number_stays_one() -> None:
    feed = {"x": np.array([np.nan, np.inf, -np.inf], np.float32)}
    done = assert_rewrite(PASS, written("@y = Celu (x)", "float[N] x", "float[N]"), feeds=[feed])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], [np.nan, np.inf, -1])


@given(st.lists(st.floats(-1e4, 1e4, width=32), min_size=1, max_size=6))
def test_any_numbers(numbers: list[float]) -> None:
    assert_activation_of(PASS, "Celu (x)", numbers, opset=12)


@pytest.mark.parametrize("alpha", ["-1.0", "0.0"])
def test_another_function_is_refused(alpha: str) -> None:
    text = written(f"@y = Celu <alpha = {alpha}> (x)", "float[N] x", "float[N]")
    assert_refused(PASS, text, "alpha must be above 0; it is")


def test_leaves_others_alone() -> None:
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))
