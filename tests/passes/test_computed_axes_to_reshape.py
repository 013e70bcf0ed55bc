"""computed-axes-to-reshape: Squeeze and Unsqueeze of axes that are an input, against numpy."""

from typing import Any

import numpy as np
import pytest

from graphfix.api import run
from graphfix.testing import assert_rewrite, outputs_of, parse
from tests.passes.lowering_models import PLACES, written

PASS = "computed-axes-to-reshape"
KINDS: dict[str, Any] = {
    "float": np.float32,
    "double": np.float64,
    "float16": np.float16,
    "int64": np.int64,
    "bool": np.bool_,
    "uint8": np.uint8,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("opset", [13, 21])
def test_known_sizes(kind: str, opset: int) -> None:
    text = written(
        "@y = Squeeze (x, a)", f"{kind}[1, 3, 4] x, int64[1] a", f"{kind}[3, 4]", opset=opset
    )
    x = np.arange(12).reshape(1, 3, 4).astype(KINDS[kind])
    feed = {"x": x, "a": np.array([0], np.int64)}
    done = assert_rewrite(PASS, text, feeds=[feed], after=["Reshape"])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], x[0])


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("axes", [(0,), (2,), (-1,), (0, 2), (-1, 0)])
def test_squeezed(axes: tuple[int, ...], place: str) -> None:
    unknown = ", ".join("ABC"[: 4 - len(axes)])
    inputs = f"float[P, N, Q, M] x, int64[{len(axes)}] a"
    text = written("@y = Squeeze (x, a)", inputs, f"float[{unknown}]", place=place)
    shape = [2, 3, 4, 5]
    for axis in axes:
        shape[axis] = 1
    x = np.arange(np.prod(shape)).reshape(shape).astype(np.float32)
    feed: dict[str, Any] = {"x": x, "a": np.array(axes, np.int64)}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed], no_small_sides="the axes name those of size 1")
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], np.squeeze(x, axes))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (-1,), (0, 3), (-1, 1), (1, 2)])
def test_unsqueezed(axes: tuple[int, ...], place: str) -> None:
    unknown = ", ".join("ABCD"[: 2 + len(axes)])
    inputs = f"float[N, M] x, int64[{len(axes)}] a"
    text = written("@y = Unsqueeze (x, a)", inputs, f"float[{unknown}]", place=place)
    x = np.arange(6).reshape(2, 3).astype(np.float32)
    feed: dict[str, Any] = {"x": x, "a": np.array(axes, np.int64)}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], np.expand_dims(x, axes))


@pytest.mark.parametrize("target", ["trt7.2", "trt8.6", "trt10.10", "trt11.1"])
def test_tensorrt_takes_it(target: str) -> None:
    text = written("@y = Unsqueeze (x, a)", "float[2, 3] x, int64[1] a", "float[2, 1, 3]")
    result = run(parse(text), target, verify="off")
    assert not [f for f in result.report.findings_after if f.blocks]
