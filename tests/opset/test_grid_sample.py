"""GridSample spelled out, against onnxruntime's own, at every mode."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.testing import outputs_of
from tests.opset.conversion import assert_converts, converted, model_of, reasons


def grid_model(mode: str, padding: str, align: int, dims: str = "2,3,5,4", out: str = "3,7") -> str:
    n, c, _, _ = dims.split(",")
    return f"""<ir_version: 8, opset_import: ["" : 16]>
g (float[{dims}] x, float[{n},{out},2] g) => (float[{n},{c},{out}] y)
{{ y = GridSample<mode = "{mode}", padding_mode = "{padding}", align_corners = {align}>(x, g) }}"""


MODES = [
    *((m, p) for m in ("bilinear", "nearest") for p in ("zeros", "border", "reflection")),
    ("bicubic", "zeros"),
]


@pytest.mark.parametrize("align", [0, 1])
@pytest.mark.parametrize(("mode", "padding"), MODES)
@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 2**16), spread=st.sampled_from([0.9, 1.3, 4.0, 40.0]))
def test_modes(mode: str, padding: str, align: int, seed: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(2, 3, 5, 4)).astype(np.float32)
    places = rng.uniform(-spread, spread, size=(2, 3, 7, 2)).astype(np.float32)
    places[0, 0, :3] = [[-1, 1], [0, 0], [1, -1]]
    proto = model_of(grid_model(mode, padding, align))
    assert_converts(proto, 13, {"x": x, "g": places}, rtol=1e-4, atol=2e-5 * max(spread, 1))


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_one_pixel(padding: str) -> None:
    x = np.array([[[[3.0]]]], np.float32)
    places = np.array([-1.5, -1, 0, 0.5, 1, 1.5], np.float32).reshape(1, 1, 3, 2)
    proto = model_of(grid_model("bilinear", padding, 0, "1,1,1,1", "1,3"))
    assert_converts(proto, 15, {"x": x, "g": places}, rtol=1e-6, atol=1e-6)


def test_dynamic_batch_and_grid() -> None:
    rng = np.random.default_rng(3)
    proto = model_of(grid_model("bilinear", "zeros", 1, "n,3,5,4", "h,w"))
    x = rng.normal(size=(3, 3, 5, 4)).astype(np.float32)
    places = rng.uniform(-1.2, 1.2, size=(3, 2, 6, 2)).astype(np.float32)
    assert_converts(proto, 15, {"x": x, "g": places}, rtol=1e-5, atol=1e-5)


def test_infinite_coordinates_read_nothing() -> None:
    # onnxruntime itself turns infinity into some integer and reads whatever lies there.
    places = np.array([np.inf, 0, -np.inf, np.inf, 0, 0, np.nan, 0], np.float32).reshape(1, 1, 4, 2)
    result = converted(model_of(grid_model("nearest", "zeros", 0, "1,1,3,3", "1,4")), 15)
    x = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
    given = outputs_of(result, {"x": x, "g": places})["y"]
    np.testing.assert_array_equal(given, [[[[0, 0, 4, 0]]]])


def test_refused() -> None:
    (reason,) = reasons(model_of(grid_model("bicubic", "border", 0)), 15)
    assert "which engines read differently" in reason
    (reason,) = reasons(model_of(grid_model("bilinear", "zeros", 0, "1,2,h,4")), 15)
    assert "height and width of the input must be known" in reason
