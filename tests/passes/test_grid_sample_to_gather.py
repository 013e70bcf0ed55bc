"""grid-sample-to-gather: neighbours gathered and weighed."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of, run_pass
from tests.passes.lowering_models import written

Array = np.ndarray[Any, Any]
PASS = "grid-sample-to-gather"
MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")


def body(mode: str, padding: str, aligned: int) -> str:
    return (
        f'@y = GridSample <mode = "{mode}", padding_mode = "{padding}", '
        f"align_corners = {aligned}> (x, grid)"
    )


def feed_of(sizes: tuple[int, ...], out: tuple[int, ...], seed: int = 0) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((2, 3, *sizes)).astype(np.float32)
    grid = rng.uniform(-1.6, 1.6, (2, *out, len(sizes))).astype(np.float32)
    return {"x": x, "grid": grid}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("aligned", [0, 1])
def test_images(mode: str, padding: str, aligned: int) -> None:
    text = written(
        body(mode, padding, aligned), "float[2, 3, 4, 5] x, float[2, 3, 2, 2] grid",
        "float[2, 3, 3, 2]", opset=16,
    )  # fmt: skip
    assert_rewrite(PASS, text, feeds=[feed_of((4, 5), (3, 2))], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("mode", ["linear", "nearest"])
@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("aligned", [0, 1])
def test_volumes(mode: str, padding: str, aligned: int) -> None:
    text = written(
        body(mode, padding, aligned), "float[2, 3, 2, 4, 3] x, float[2, 3, 2, 2, 3] grid",
        "float[2, 3, 3, 2, 2]", opset=20,
    )  # fmt: skip
    feed = feed_of((2, 4, 3), (3, 2, 2))
    assert_rewrite(PASS, text, feeds=[feed], rtol=1e-5, atol=1e-5)


def test_the_edges_themselves_and_infinity() -> None:
    text = written(
        body("bilinear", "zeros", 1), "float[1, 1, 2, 3] x, float[1, 1, 4, 2] grid",
        "float[1, 1, 1, 4]",
    )  # fmt: skip
    x = np.arange(1, 7, dtype=np.float32).reshape(1, 1, 2, 3)
    edges = np.array([[-1, -1], [1, 1], [np.inf, 0], [0, -np.inf]], np.float32)
    done = assert_rewrite(
        PASS, text, feeds=[{"x": x, "grid": edges[None, None][:, :, [0, 1, 0, 1]]}]
    )
    result = outputs_of(done.after, {"x": x, "grid": edges[None, None]})["y"]
    assert result.ravel().tolist() == [1, 6, 0, 0]


@pytest.mark.parametrize(("padding", "read"), [("zeros", 0), ("border", 5)])
def test_places_that_are_no_numbers_stop_nothing(padding: str, read: float) -> None:
    text = written(
        body("nearest", padding, 1), "float[1, 1, 1, 3] x, float[1, 1, 2, 2] grid",
        "float[1, 1, 1, 2]",
    )  # fmt: skip
    x = np.array([[[[5, 2, 3]]]], np.float32)
    feed = {"x": x, "grid": np.array([[[[np.nan, 0], [0, 0]]]], np.float32)}
    done = run_pass(PASS, text)
    assert outputs_of(done.after, feed)["y"].ravel().tolist() == [read, 2]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("padding", ["zeros", "border"])
@pytest.mark.parametrize("aligned", [0, 1])
def test_sizes_at_run_time(mode: str, padding: str, aligned: int) -> None:
    text = written(
        body(mode, padding, aligned), "float[2, 3, H, W] x, float[2, M, N, 2] grid",
        "float[2, 3, M, N]", opset=16,
    )  # fmt: skip
    feeds = [feed_of((4, 5), (3, 2)), feed_of((7, 2), (1, 4), seed=1)]
    assert_rewrite(PASS, text, feeds=feeds, rtol=1e-5, atol=1e-5)


@given(
    st.tuples(st.integers(1, 5), st.integers(1, 5)),
    st.sampled_from(PADDINGS),
    st.integers(0, 1),
    st.integers(0, 2**32 - 1),
)
def test_any_image(sizes: tuple[int, int], padding: str, aligned: int, seed: int) -> None:
    text = written(
        body("bilinear", padding, aligned),
        f"float[2, 3, {sizes[0]}, {sizes[1]}] x, float[2, 2, 3, 2] grid",
        "float[2, 3, 2, 3]",
    )
    assert_rewrite(PASS, text, feeds=[feed_of(sizes, (2, 3), seed)], rtol=1e-4, atol=1e-4)
