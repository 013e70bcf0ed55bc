"""image-scaler-to-arithmetic: a factor, and a bias for each channel."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import parser

import graphfix
from graphfix.testing import assert_rewrite, outputs_of
from passes.contrib.image_scaler_to_arithmetic import evaluate
from tests.passes.lowering_models import PLACES, written

PASS = "image-scaler-to-arithmetic"
MODELS = {("", "ImageScaler"): evaluate}
BODY = "@y = ImageScaler <scale = 0.5, bias = [1.0, -2.0]> (x)"


@pytest.mark.parametrize("opset", [9, 17])
@pytest.mark.parametrize("place", PLACES)
def test_scales_and_adds(place: str, opset: int) -> None:
    kind = "float[1, 2, 1, 3]"
    text = written(BODY, f"{kind} x", kind, place=place, opset=opset)
    x = np.arange(6, dtype=np.float32).reshape(1, 2, 1, 3)
    feed = {"x": x, **({"c": np.array(True)} if place == "branch" else {})}
    done = assert_rewrite(PASS, text, feeds=[feed], evaluators=MODELS)
    found = outputs_of(done.after, feed)["y"]
    assert found.ravel().tolist() == [1.0, 1.5, 2.0, -0.5, 0.0, 0.5]
    assert found.dtype == np.float32


def test_sizes_may_be_open_and_halves_stay_halves() -> None:
    text = written(BODY, "float16[N, 2, H, W] x", "float16[N, 2, H, W]")
    feed = {"x": np.array([[[[1, 3]], [[4, -8]]]], np.float16)}
    done = assert_rewrite(PASS, text, feeds=[feed], evaluators=MODELS)
    assert done.ops == ["Mul", "Add"]
    found = outputs_of(done.after, feed)["y"]
    assert found.dtype == np.float16
    assert found.ravel().tolist() == [1.5, 2.5, 0.0, -6.0]


@settings(max_examples=10, deadline=None)
@given(st.lists(st.floats(-4, 4, width=16), min_size=1, max_size=4), st.floats(-4, 4, width=16))
def test_any_numbers(bias: list[float], scale: float) -> None:
    numbers = ", ".join(f"{b:.9f}" for b in bias)
    body = f"@y = ImageScaler <scale = {scale:.9f}, bias = [{numbers}]> (x)"
    kind = f"float[2, {len(bias)}, 2, 2]"
    x = np.linspace(-3, 3, 8 * len(bias), dtype=np.float32).reshape(2, len(bias), 2, 2)
    assert_rewrite(PASS, written(body, f"{kind} x", kind), feeds=[{"x": x}], evaluators=MODELS)


def test_what_follows_is_typed() -> None:
    kind = "float[N, 2, 8, 8]"
    text = written(f"{BODY.replace('@y', 's')}\n y = Conv (s, w)", f"{kind} x", kind)
    text = text.replace(" {", " <float[2, 2, 1, 1] w = {1, 2, 3, 4}> {", 1)
    assert not [f for f in graphfix.check(parser.parse_model(text), target="trt8") if f.missing]
