"""quantize-to-arithmetic: divided, rounded half to even, limited, cast."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of, run_pass
from tests.passes.lowering_models import PLACES, written
from tests.passes.quantized_models import constant

PASS = "quantize-to-arithmetic"
NAMES = {np.int8: "int8", np.uint8: "uint8"}


def model(dtype: Any, zero: int, shape: str = "[N]", scale: float = 0.5, **where: Any) -> str:
    body = constant("@s", np.array(scale, np.float32)) + constant("@z", np.array(zero, dtype))
    body += "@y = QuantizeLinear (x, @s, @z)"
    return written(body, f"float{shape} x", f"{NAMES[dtype]}{shape}", **where)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [10, 13, 21])
@pytest.mark.parametrize(("dtype", "zero"), [(np.int8, 0), (np.int8, -7), (np.uint8, 128)])
def test_values(dtype: Any, zero: int, opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    x = np.array([-0.75, -0.25, -0.0, 0.25, 0.75, 1.25, 1e30, -1e30, 63.4, np.inf], np.float32)
    feed: dict[str, Any] = {"x": x, **({"c": np.array(True)} if place == "branch" else {})}
    done = assert_rewrite(PASS, model(dtype, zero, "[10]", opset=opset, place=place), feeds=[feed])
    info = np.iinfo(dtype)
    wanted = [-2, 0, 0, 0, 2, 2, 1000, -1000, 127, 1000]
    given = outputs_of(done.after, feed)["y"].tolist()
    assert given == [min(max(w + zero, int(info.min)), int(info.max)) for w in wanted]


def test_rounding_without_round() -> None:
    """Next to halves, next to 0, and beyond what 8 bits hold."""
    halves = np.arange(-300.5, 300, dtype=np.float32)
    near = [np.nextafter(halves, np.float32(side)) for side in (-np.inf, np.inf)]
    small = np.array([1e-10, 1e-40, 0.5 - 2.0**-25, 2.0**23 + 1, 3e38, np.inf, 0.0], np.float32)
    x = np.concatenate([halves, *near, small, -small])
    done = assert_rewrite(PASS, model(np.int8, 3, scale=1.0, opset=10), feeds=[{"x": x}])
    given = outputs_of(done.after, {"x": x})["y"]
    np.testing.assert_array_equal(given, (np.rint(x) + 3).clip(-128, 127).astype(np.int8))
    assert "Round" not in done.ops
    assert len(done.ops) == 11


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=6),
    st.floats(0.0009765625, 100, width=32),
    st.integers(-128, 127),
)
def test_any_number(values: list[float], scale: float, zero: int) -> None:
    text = model(np.int8, zero, scale=scale)
    assert_rewrite(PASS, text, feeds=[{"x": np.array(values, np.float32)}])


@pytest.mark.parametrize("late", [True, False])
@pytest.mark.parametrize(("size", "block"), [(4, 2), (6, 3), (5, 2)])
@pytest.mark.parametrize("zeros", [True, False])
def test_blocks(size: int, block: int, *, late: bool, zeros: bool) -> None:
    count = -(-size // block)
    s = (np.arange(3 * count).astype(np.float32).reshape(3, count) + 1) / 4
    z = np.arange(3 * count).astype(np.uint8).reshape(3, count) * 9
    body, inputs = "", f"float[3, {size}] x"
    feed: dict[str, Any] = {}
    names = ["@s", "@z"][: 1 + zeros]
    if late:
        inputs += f", float[3, {count}] s" + f", uint8[3, {count}] z" * zeros
        names, feed = [name[1:] for name in names], {"s": s, **({"z": z} if zeros else {})}
    else:
        body = constant("@s", s) + constant("@z", z) * zeros
    body += f"@y = QuantizeLinear <axis = 1, block_size = {block}> (x, {', '.join(names)})"
    feed["x"] = np.linspace(-3, 40, 3 * size).astype(np.float32).reshape(3, size)
    done = run_pass(PASS, written(body, inputs, f"uint8[3, {size}]", opset=21))
    each = np.repeat(s, block, axis=1)[:, :size]
    away = np.repeat(z, block, axis=1)[:, :size] if zeros else 0
    expected = (np.rint(feed["x"] / each) + away).clip(0, 255)
    found = outputs_of(done.after, feed)["y"]
    np.testing.assert_array_equal(found, expected.astype(np.uint8))


def test_float16_is_divided_in_float32() -> None:
    inputs = "float16[N] x, float16 s, uint8 z"
    text = written("@y = QuantizeLinear (x, s, z)", inputs, "uint8[N]", opset=19)
    rng = np.random.default_rng(0)
    feeds = [
        {
            "x": (rng.normal(size=3000) * 40).astype(np.float16),
            "s": np.array(number, np.float16),
            "z": np.array(7, np.uint8),
        }
        for number in (0.1, 0.37, 1.5)
    ]
    assert_rewrite(PASS, text, feeds=feeds)
