"""dequantize-to-arithmetic: numbers less their zero point, times the scale."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of, run_pass
from tests.passes.lowering_models import written

PASS = "dequantize-to-arithmetic"


@given(st.integers(0, 255), st.integers(0, 255), st.floats(0.001953125, 8, width=32))
def test_any_number(number: int, zero: int, scale: float) -> None:
    text = written("@y = DequantizeLinear (x, s, z)", "uint8[1] x, float s, uint8 z", "float[1]")
    feed = {
        "x": np.array([number], np.uint8),
        "s": np.array(scale, np.float32),
        "z": np.array(zero, np.uint8),
    }
    assert_rewrite(PASS, text, feeds=[feed])


@pytest.mark.parametrize(("size", "block"), [(4, 2), (6, 3), (5, 2)])
@pytest.mark.parametrize("axis", [1, -1, 0])
def test_blocks(axis: int, size: int, block: int) -> None:
    count = -(-size // block)
    shape, given_ = ((size, 3), (count, 3)) if axis == 0 else ((3, size), (3, count))
    sizes, counts = (", ".join(map(str, one)) for one in (shape, given_))
    text = written(
        f"@y = DequantizeLinear <axis = {axis}, block_size = {block}> (x, s, z)",
        f"uint8[{sizes}] x, float[{counts}] s, uint8[{counts}] z",
        f"float[{sizes}]",
        opset=21,
    )
    rng = np.random.default_rng(5)
    feed: dict[str, Any] = {
        "x": rng.integers(0, 256, shape).astype(np.uint8),
        "s": rng.uniform(0.1, 3, given_).astype(np.float32),
        "z": rng.integers(0, 256, given_).astype(np.uint8),
    }
    done = run_pass(PASS, text)
    scale, zero = (
        np.repeat(feed[name], block, axis=axis).take(range(size), axis=axis) for name in "sz"
    )
    wanted = (feed["x"].astype(np.float32) - zero.astype(np.float32)) * scale
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)
