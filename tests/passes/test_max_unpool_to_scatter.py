"""max-unpool-to-scatter: values back to where they were the largest."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite, outputs_of, run_pass
from tests.passes.lowering_models import PLACES, written

PASS = "max-unpool-to-scatter"
BODY = "@y = MaxUnpool <kernel_shape = [2, 2], strides = [2, 2]> (x, i)"


def feed_of(batch: int, height: int, width: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    count = batch * 3 * height * width
    places = rng.permutation(count * 4)[:count].reshape(batch, 3, height, width)
    return {"x": rng.standard_normal(places.shape).astype(np.float32), "i": places}


def text(batch: int, height: int, width: int, **more: Any) -> str:
    known, large = f"{batch}, 3, {height}, {width}", f"{batch}, 3, {2 * height}, {2 * width}"
    return written(BODY, f"float[{known}] x, int64[{known}] i", f"float[{large}]", **more)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [9, 11, 17])
def test_scattered(opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    feed = feed_of(2, 2, 3)
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text(2, 2, 3, opset=opset, place=place), feeds=[feed])
    wanted = np.zeros(2 * 3 * 4 * 6, np.float32)
    wanted[feed["i"].ravel()] = feed["x"].ravel()
    result = outputs_of(done.after, feed)["y"]
    np.testing.assert_array_equal(result, wanted.reshape(2, 3, 4, 6))


def shaped(sizes: list[int], batch: str = "1", size: str = "2") -> str:
    known = f"{batch}, 3, {size}, {size}"
    body = "@s = Constant <value_ints = [" + ", ".join(map(str, sizes)) + "]> ()\n"
    body += BODY.replace("(x, i)", "(x, i, @s)")
    return written(body, f"float[{known}] x, int64[{known}] i", "float[A, B, C, D]")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [9, 11, 17])
def test_a_batch_of_any_size(opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    inputs = "float[N, 3, 2, 3] x, int64[N, 3, 2, 3] i"
    model = written(BODY, inputs, "float[N, 3, 4, 6]", opset=opset, place=place)
    feeds = [feed_of(batch, 2, 3, seed=batch) for batch in (1, 2, 5)]
    if place == "branch":
        feeds = [{**feed, "c": np.array(False)} for feed in feeds]
    done = assert_rewrite(PASS, model, feeds=feeds)
    wanted = np.zeros(5 * 3 * 4 * 6, np.float32)
    wanted[feeds[2]["i"].ravel()] = feeds[2]["x"].ravel()
    result = outputs_of(done.after, feeds[2])["y"]
    np.testing.assert_array_equal(result, wanted.reshape(5, 3, 4, 6))


def test_refusals() -> None:
    model = written(BODY, "float[N, C, 2, 2] x, int64[N, C, 2, 2] i", "float[N, C, 4, 4]")
    said = "the shape of x must be known, but for the batch"
    assert_refused(PASS, model, said)
    assert_refused(PASS, shaped([1, 3, 4, 4], size="H"), said)
    empty = written(BODY, "float[1, 0, 2, 2] x, int64[1, 0, 2, 2] i", "float[1, 0, 4, 4]")
    assert_refused(
        PASS,
        empty,
        "the result must have 1 to max_elements elements; its shape would be [1, 0, 4, 4]",
    )
    done = run_pass(PASS, text(1, 2, 2), options={"max_elements": 20})
    assert done.reasons == [
        "the result must have 1 to max_elements elements; its shape would be [1, 3, 4, 4]"
    ]


@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 4), st.integers(0, 99))
def test_any_sizes(batch: int, height: int, width: int, seed: int) -> None:
    feed = feed_of(batch, height, width, seed)
    assert_rewrite(PASS, text(batch, height, width), feeds=[feed])
