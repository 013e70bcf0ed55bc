"""matmul-integer-to-matmul: integers in float32, split where sums grow."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of, run_pass
from tests.passes.lowering_models import PLACES, written

PASS = "matmul-integer-to-matmul"


def extremes(rows: int, columns: int, kind: Any, seed: int) -> Any:
    limits = np.iinfo(kind)
    picks = np.random.default_rng(seed).choice([limits.min, limits.max, 1], (rows, columns))
    return picks.astype(kind)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("count", [3, 900])
@pytest.mark.parametrize("kind", ["uint8", "int8"])
def test_extremes_and_zero_points(kind: str, count: int, place: str) -> None:
    text = written(
        "@y = MatMulInteger (a, b, p, q)",
        f"uint8[2, {count}] a, {kind}[{count}, 3] b, uint8 p, {kind}[3] q",
        "int32[2, 3]",
        place=place,
    )
    feed: dict[str, Any] = {
        "a": extremes(2, count, np.uint8, 0),
        "b": extremes(count, 3, np.dtype(kind), 1),
        "p": np.array(255, np.uint8),
        "q": np.array([0, 100, 7], kind),
    }
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    if place == "main":
        assert done.ops.count("MatMul") == (1 if count == 3 else 2)


def test_a_zero_point_for_each_row() -> None:
    # onnxruntime has no kernel for rows: numpy says what is right.
    from graphfix.testing import outputs_of, run_pass

    text = written(
        "@y = MatMulInteger (a, b, p)", "uint8[2, 3] a, uint8[3, 2] b, uint8[2] p", "int32[2, 2]"
    )
    a, b = extremes(2, 3, np.uint8, 3), extremes(3, 2, np.uint8, 4)
    p = np.array([3, 250], np.uint8)
    done = run_pass(PASS, text)
    wanted = (a.astype(np.int32) - p[:, None].astype(np.int32)) @ b.astype(np.int32)
    np.testing.assert_array_equal(outputs_of(done.after, {"a": a, "b": b, "p": p})["y"], wanted)


@given(st.integers(1, 400), st.integers(0, 9))
def test_any_length(count: int, seed: int) -> None:
    text = written(
        "@y = MatMulInteger (a, b)", f"uint8[1, {count}] a, int8[{count}, 2] b", "int32[1, 2]"
    )
    feed = {"a": extremes(1, count, np.uint8, seed), "b": extremes(count, 2, np.int8, seed + 1)}
    assert_rewrite(PASS, text, feeds=[feed])


@pytest.mark.parametrize("number", [255, 254])
@pytest.mark.parametrize("count", [4113, 9000])
def test_long_sums_are_cut_into_pieces(count: int, number: int) -> None:
    text = written(
        "@y = MatMulInteger (a, b)", f"uint8[1, {count}] a, uint8[{count}, 2] b", "int32[1, 2]"
    )
    b = np.full((count, 2), number, np.uint8)
    b[::3, 1] = 1
    assert_rewrite(PASS, text, feeds=[{"a": np.full((1, count), 255, np.uint8), "b": b}])


def test_one_product_by_choice() -> None:
    text = written("@y = MatMulInteger (a, b)", "uint8[2, 5000] a, uint8[5000, 3] b", "int32[2, 3]")
    rng = np.random.default_rng(2)
    a, b = (rng.integers(0, 256, size).astype(np.uint8) for size in ((2, 5000), (5000, 3)))
    done = run_pass(PASS, text, options={"rounded": True})
    assert done.ops.count("MatMul") == 1
    exact, got = (outputs_of(m, {"a": a, "b": b})["y"] for m in (done.before, done.after))
    assert 0 < np.abs(got - exact).max() <= 2e-7 * 255 * 255 * 5000
    (site,) = (site for outcome in done.outcomes for site in outcome.sites)
    assert str(site.accuracy) == "approximate"
