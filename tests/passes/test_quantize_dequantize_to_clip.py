"""quantize-dequantize-to-clip: the pair in floating point numbers, to the last bit."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "quantize-dequantize-to-clip"


def pair(dtype: str = "int8", scale: float = 0.1, zero: int = 3, other: int | None = None) -> str:
    other = zero if other is None else other
    return (
        f"@s = Constant <value = float {{{scale}}}> ()\n"
        f"@z = Constant <value = {dtype} {{{zero}}}> ()\n"
        f"@o = Constant <value = {dtype} {{{other}}}> ()\n"
        "@q = QuantizeLinear (x, @s, @z)\n@y = DequantizeLinear (@q, @s, @o)"
    )


def check(body: str, x: np.ndarray[Any, Any], **more: Any) -> list[str]:
    feed: dict[str, Any] = {"x": x}
    if more.get("place") == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, written(body, "float[N] x", "float[N]", **more), feeds=[feed])
    old, new = outputs_of(done.before, feed)["y"], outputs_of(done.after, feed)["y"]
    np.testing.assert_array_equal(np.signbit(old), np.signbit(new))
    return done.ops


X = np.array([-1e9, -12.85, -0.25, -0.04, -0.0, 0.0, 0.05, 0.15, 0.25, 12.85, 1e9], np.float32)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [11, 13, 19, 21])
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_rounding_limits_and_the_sign_of_zero(dtype: str, opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    for zero in (0, 3, 127):
        ops = check(pair(dtype, zero=zero), X, opset=opset, place=place)
        assert "QuantizeLinear" not in ops


def test_another_zero_point_on_the_way_back() -> None:
    check(pair(zero=3, other=-5), X)


def test_without_zero_point_it_is_uint8() -> None:
    body = (
        "@s = Constant <value = float {0.1}> ()\n@q = QuantizeLinear (x, @s)\n"
        "@y = DequantizeLinear (@q, @s)"
    )
    check(body, X)


@given(
    st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=8),
    st.sampled_from([0.5, 0.1, 0.0078125, 0.003921569]),
    st.integers(-128, 127),
)
def test_any_numbers(values: list[float], scale: float, zero: int) -> None:
    check(pair("int8", scale, zero), np.array(values, np.float32))
