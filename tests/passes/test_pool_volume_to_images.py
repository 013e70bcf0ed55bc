"""pool-volume-to-images: pools of five axes by those of four."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "pool-volume-to-images"
RNG = np.random.default_rng(0)
X = RNG.standard_normal((2, 3, 4, 5, 6)).astype(np.float32)
OUT = "float[A,B,C,D,E]"
WINDOW = "kernel_shape = [2, 3, 2]"


@pytest.mark.parametrize("op", ["AveragePool", "MaxPool"])
@pytest.mark.parametrize("opset", [11, 17, 22])
@pytest.mark.parametrize(
    "words",
    [
        "",
        ", strides = [1, 2, 3]",
        ", pads = [1, 0, 1, 0, 2, 0]",
        ", pads = [1, 1, 1, 0, 1, 0], strides = [2, 2, 2], ceil_mode = 1",
        ', auto_pad = "SAME_LOWER", strides = [2, 1, 2]',
        ', auto_pad = "SAME_UPPER"',
    ],
)
def test_values(words: str, opset: int, op: str) -> None:
    model = written(f"@y = {op} <{WINDOW}{words}> (x)", "float[N,3,4,5,6] x", OUT, opset=opset)
    done = assert_rewrite(PASS, model, feeds=[{"x": X}], rtol=1e-5, atol=1e-6)
    assert [o for o in done.ops if o != "Constant"] == ["Reshape", op, "Reshape", op, "Reshape"]


@pytest.mark.parametrize("words", ["pads = [1, 0, 1, 1, 2, 0]", "pads = [1, 2, 0, 0, 2, 1]"])
def test_padding_that_counts(words: str) -> None:
    body = f"@y = AveragePool <{WINDOW}, count_include_pad = 1, {words}> (x)"
    model = written(body, "float[N,3,4,5,6] x", OUT)
    assert_rewrite(PASS, model, feeds=[{"x": X}], rtol=1e-5, atol=1e-6)


def test_dilations_and_bytes() -> None:
    body = f"@y = MaxPool <{WINDOW}, dilations = [2, 1, 3]> (x)"
    model = written(body, "uint8[N,3,4,5,6] x", OUT.replace("float", "uint8"))
    numbers = RNG.integers(0, 255, X.shape).astype(np.uint8)
    assert_rewrite(PASS, model, feeds=[{"x": numbers}], rtol=0, atol=0)


@pytest.mark.parametrize("kind", ["float16", "float"])
@pytest.mark.parametrize("op", ["GlobalAveragePool", "GlobalMaxPool"])
def test_global_pools(op: str, kind: str) -> None:
    dtype = np.float16 if kind == "float16" else np.float32
    model = written(f"@y = {op} (x)", f"{kind}[N,3,4,5,6] x", f"{kind}[N,3,1,1,1]")
    feeds = [{"x": X.astype(dtype)}]
    rtol = 1e-2 if kind == "float16" else 1e-5
    done = assert_rewrite(PASS, model, feeds=feeds, rtol=rtol, atol=rtol / 10)
    assert [o for o in done.ops if o != "Constant"] == ["Reshape", op, "Reshape"]


@pytest.mark.parametrize("place", PLACES)
def test_in_any_place(place: str) -> None:
    feed = {"x": X, **({"c": np.array(True)} if place == "branch" else {})}
    body = f"@y = MaxPool <{WINDOW}> (x)"
    model = written(body, "float[2,3,4,5,6] x", "float[2,3,3,3,5]", place=place)
    assert_rewrite(PASS, model, feeds=[feed], rtol=0, atol=0)


def test_infinities_and_nan() -> None:
    numbers = X.copy()
    numbers[0, 0, 1, 2, 3], numbers[1, 2, 3, 4, 5], numbers[1, 0, 0, 0, 0] = np.inf, np.nan, -np.inf
    for op in ("AveragePool", "MaxPool"):
        model = written(f"@y = {op} <kernel_shape = [2, 2, 2]> (x)", "float[N,3,4,5,6] x", OUT)
        feeds = [{"x": np.where(np.isnan(numbers), 0, numbers) if op == "MaxPool" else numbers}]
        assert_rewrite(PASS, model, feeds=feeds, rtol=1e-5, atol=1e-6)
