from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto

from graphfix.report import Status
from graphfix.testing import assert_rewrite, outputs_of, run_pass
from passes.aten.aten_im2col import evaluate
from tests.passes.aten_models import LAYOUTS, Array, array_of, aten_model, becomes, numpy_dtype
from tests.passes.resize_models import in_branch

PASS = "aten-im2col"
Pair = tuple[int, int]
Geometry = tuple[Pair, Pair, Pair, Pair]
PLAIN: Geometry = ((2, 3), (1, 1), (0, 0), (1, 1))
GEOMETRIES: list[Geometry] = [
    PLAIN,
    ((3, 3), (1, 1), (1, 1), (1, 1)),
    ((2, 2), (2, 1), (1, 0), (2, 3)),
    ((1, 1), (1, 1), (0, 0), (2, 2)),
    ((2, 3), (1, 2), (2, 2), (3, 1)),
]


def model_of(shape: list[int | str] | None, geometry: Geometry = PLAIN, **other: Any) -> ModelProto:
    outputs = {"y": (None, len(shape or [0] * 4) - 1)}
    return aten_model("im2col", shape, [np.array(g) for g in geometry], outputs=outputs, **other)


def columns_of(x: Array, geometry: Geometry) -> Array:
    """Read every sample of every window by itself."""
    kernel, dilation, padding, stride = geometry
    *front, channels, height, width = x.shape
    spans = zip((height, width), kernel, dilation, padding, stride, strict=True)
    rows, columns = [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, d, p, s in spans]
    y = np.zeros((*front, channels, *kernel, rows, columns), dtype=x.dtype)
    for i, j, r, c in np.ndindex(*kernel, rows, columns):
        down = r * stride[0] - padding[0] + i * dilation[0]
        across = c * stride[1] - padding[1] + j * dilation[1]
        if 0 <= down < height and 0 <= across < width:
            y[..., i, j, r, c] = x[..., down, across]
    return y.reshape(*front, channels * kernel[0] * kernel[1], rows * columns)


@pytest.mark.parametrize("opset", [7, 9, 11, 13, 18, 21])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_opset_and_layout(opset: int, layout: str) -> None:
    x = array_of(2, 3, 5, 6)
    geometry = GEOMETRIES[1]
    model = model_of([2, 3, 5, 6], geometry, layout=layout, opset=opset)
    ops = ["Reshape", "Concat", "Gather", "Reshape"]
    becomes(PASS, model, {"x": x}, columns_of(x, geometry), ops=ops)


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("shape", [[2, 3, 5, 6], ["N", 3, 5, 6], ["N", "C", 5, 6], [3, 5, 6]])
def test_geometries(geometry: Geometry, shape: list[int | str]) -> None:
    x = array_of(*(2, 3, 5, 6)[4 - len(shape) :])
    becomes(PASS, model_of(shape, geometry), {"x": x}, columns_of(x, geometry))


@pytest.mark.parametrize("kind", [TensorProto.DOUBLE, TensorProto.FLOAT16])
def test_other_types(kind: int) -> None:
    x = array_of(1, 2, 3, 4, dtype=numpy_dtype(kind))
    for batch in (1, "N"):
        model = model_of([batch, 2, 3, 4], GEOMETRIES[1], dtype=kind)
        becomes(PASS, model, {"x": x}, columns_of(x, GEOMETRIES[1]))


def test_against_the_numpy_model() -> None:
    evaluators = {("org.pytorch.aten", "ATen.im2col"): evaluate}
    for geometry in GEOMETRIES:
        model = model_of([2, 3, 5, 6], geometry)
        feed = {"x": array_of(2, 3, 5, 6)}
        assert_rewrite(PASS, model, feeds=[feed], evaluators=evaluators)


def test_in_a_branch() -> None:
    x = array_of(1, 2, 3, 4)
    done = run_pass(PASS, in_branch(model_of([1, 2, 3, 4])))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = outputs_of(done.after, {"x": x, "c": np.array(False)})["y"]
    np.testing.assert_array_equal(y, columns_of(x, PLAIN))


@given(
    kernel=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    dilation=st.tuples(st.integers(1, 2), st.integers(1, 2)),
    padding=st.tuples(st.integers(0, 2), st.integers(0, 2)),
    stride=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    opset=st.sampled_from([7, 11, 13, 18]),
)
def test_any_window(kernel: Pair, dilation: Pair, padding: Pair, stride: Pair, opset: int) -> None:
    x = array_of(2, 2, 5, 7)
    geometry = (kernel, dilation, padding, stride)
    model = model_of([2, 2, 5, 7], geometry, opset=opset)
    becomes(PASS, model, {"x": x}, columns_of(x, geometry))
