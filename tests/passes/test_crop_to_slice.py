"""crop-to-slice: the border of the last two axes taken off."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import parser

import graphfix
from graphfix.testing import assert_rewrite, outputs_of
from passes.contrib.onnx_experiments import crop as evaluate
from tests.passes.lowering_models import PLACES, written

PASS = "crop-to-slice"
MODELS = {("", "Crop"): evaluate}
BODY = "@y = Crop <border = [1, 0, 2, 1]> (x)"
KIND = "float[2, 1, 4, 5]"
X = np.arange(40, dtype=np.float32).reshape(2, 1, 4, 5)


@pytest.mark.parametrize("opset", [9, 17])
@pytest.mark.parametrize("place", PLACES)
def test_takes_the_border_off(place: str, opset: int) -> None:
    text = written(BODY, f"{KIND} x", "float[2, 1, 3, 2]", place=place, opset=opset)
    feed = {"x": X, **({"c": np.array(True)} if place == "branch" else {})}
    done = assert_rewrite(PASS, text, feeds=[feed], evaluators=MODELS)
    found = outputs_of(done.after, feed)["y"]
    assert found[0, 0].tolist() == [[1.0, 2.0], [6.0, 7.0], [11.0, 12.0]]
    assert np.array_equal(found, X[:, :, :3, 1:3])


@pytest.mark.parametrize("opset", [7, 17])
def test_the_model_of_it_computes_the_definition(opset: int) -> None:
    text = written(BODY, f"{KIND} x", "float[a, b, c, d]", opset=opset)
    done = assert_rewrite(PASS, text, feeds=[{"x": X}], evaluators=MODELS)
    assert done.ops == ["Slice"]
    (computed,) = evaluate([X], {"border": [1, 0, 2, 1]})
    assert np.array_equal(computed, X[:, :, :3, 1:3])


def test_scale_says_how_much_is_kept() -> None:
    body = "@y = Crop <border = [1, 1, 0, 0], scale = [2, 3]> (x)"
    text = written(body, f"{KIND} x", "float[2, 1, 2, 3]")
    done = assert_rewrite(PASS, text, feeds=[{"x": X}], evaluators=MODELS)
    assert done.ops == ["Slice"]
    (kept,) = evaluate([X], {"border": [1, 1, 0, 0], "scale": [2, 3]})
    assert np.array_equal(kept, X[:, :, 1:3, 1:4])
    assert np.array_equal(outputs_of(done.after, {"x": X})["y"], X[:, :, 1:3, 1:4])


@pytest.mark.parametrize("shape", [(2, 1, 4, 5), (1, 3, 1, 3), (0, 1, 4, 5), (1, 1, 9, 4)])
def test_sizes_may_be_open(shape: tuple[int, ...]) -> None:
    text = written(BODY, "float[N, C, H, W] x", "float[N, C, h, w]")
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    done = assert_rewrite(PASS, text, feeds=[{"x": x}], evaluators=MODELS)
    found = outputs_of(done.after, {"x": x})["y"]
    assert np.array_equal(found, x[:, :, : shape[2] - 1, 1 : shape[3] - 2])


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [("float16", np.float16), ("double", np.float64), ("int32", np.int32), ("bool", np.bool_)],
)
def test_any_type(kind: str, dtype: type[np.generic]) -> None:
    text = written(BODY, f"{kind}[2, 1, 4, 5] x", f"{kind}[2, 1, 3, 2]")
    x = (X % 3).astype(dtype)
    done = assert_rewrite(PASS, text, feeds=[{"x": x}], evaluators=MODELS)
    found = outputs_of(done.after, {"x": x})["y"]
    assert found.dtype == dtype
    assert np.array_equal(found, x[:, :, :3, 1:3])


@settings(max_examples=10, deadline=None)
@given(st.tuples(*[st.integers(0, 2)] * 4))
def test_any_border(border: tuple[int, int, int, int]) -> None:
    left, top, right, bottom = border
    text = written(f"@y = Crop <border = {list(border)}> (x)", f"{KIND} x", "float[a, b, c, d]")
    done = assert_rewrite(PASS, text, feeds=[{"x": X}], evaluators=MODELS)
    found = outputs_of(done.after, {"x": X})["y"]
    assert np.array_equal(found, X[:, :, top : 4 - bottom, left : 5 - right])


def test_what_follows_is_typed() -> None:
    text = written(f"{BODY.replace('@y', '@h')}\n@y = Neg (@h)", f"{KIND} x", "float[2, 1, 3, 2]")
    assert not [f for f in graphfix.check(parser.parse_model(text), target="trt8") if f.missing]
