from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto

from graphfix.report import Status
from graphfix.testing import assert_rewrite, outputs_of, run_pass
from passes.aten.aten_col2im import evaluate
from tests.passes.aten_models import LAYOUTS, Array, array_of, aten_model, becomes, numpy_dtype
from tests.passes.resize_models import in_branch

PASS = "aten-col2im"
CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-5}
IMAGE = (5, 6)
Pair = tuple[int, int]
Geometry = tuple[Pair, Pair, Pair, Pair]
PLAIN: Geometry = ((3, 3), (1, 1), (1, 1), (1, 1))
GEOMETRIES: list[Geometry] = [
    PLAIN,
    ((2, 2), (1, 1), (0, 0), (2, 2)),
    ((2, 2), (2, 1), (1, 0), (2, 3)),
    ((1, 2), (1, 1), (0, 0), (1, 2)),
    ((2, 3), (1, 2), (2, 2), (3, 1)),
]


def counts(image: Pair, geometry: Geometry) -> tuple[int, ...]:
    spans = zip(image, *geometry, strict=True)
    return tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, d, p, s in spans)


def shape_of(geometry: Geometry, *front: int, channels: int = 2) -> list[int | str]:
    rows, columns = counts(IMAGE, geometry)
    return [*front, channels * geometry[0][0] * geometry[0][1], rows * columns]


def model_of(shape: list[int | str] | None, geometry: Geometry = PLAIN, **other: Any) -> ModelProto:
    arguments = [np.array(IMAGE), *(np.array(g) for g in geometry)]
    outputs = {"y": (None, len(shape or [0] * 3) + 1)}
    return aten_model("col2im", shape, arguments, outputs=outputs, **other)


def image_of(x: Array, geometry: Geometry) -> Array:
    """Add every sample of every window by itself."""
    kernel, dilation, padding, stride = geometry
    rows, columns = counts(IMAGE, geometry)
    front = x.shape[:-2]
    parts = x.reshape(*front, -1, *kernel, rows, columns)
    y = np.zeros((*parts.shape[:-4], *IMAGE), dtype=x.dtype)
    for i, j, r, c in np.ndindex(*kernel, rows, columns):
        down = r * stride[0] - padding[0] + i * dilation[0]
        across = c * stride[1] - padding[1] + j * dilation[1]
        if 0 <= down < IMAGE[0] and 0 <= across < IMAGE[1]:
            y[..., down, across] += parts[..., i, j, r, c]
    return y


def numbers(shape: list[int | str], dtype: Any = np.float32) -> Array:
    return array_of(*(n if isinstance(n, int) else 2 for n in shape), dtype=dtype)


@pytest.mark.parametrize("opset", [7, 9, 11, 13, 18, 21])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_opset_and_layout(opset: int, layout: str) -> None:
    shape = shape_of(PLAIN, 2)
    x = numbers(shape)
    model = model_of(shape, layout=layout, opset=opset)
    ops = ["Reshape", "Concat", "Gather", "MatMul", "Reshape"]
    becomes(PASS, model, {"x": x}, image_of(x, PLAIN), ops=ops, **CLOSE)


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_geometries(geometry: Geometry) -> None:
    shape = shape_of(geometry, 2)
    for given_shape in (shape, ["N", *shape[1:]], ["N", shape[1], "L"], shape[1:]):
        x = numbers(shape[3 - len(given_shape) :])
        model = model_of(given_shape, geometry)
        becomes(PASS, model, {"x": x}, image_of(x, geometry), **CLOSE)


def test_windows_that_do_not_overlap_are_only_moved() -> None:
    geometry = ((5, 2), (1, 1), (0, 0), (5, 2))
    shape = shape_of(geometry, 1)
    x = numbers(shape)
    done = becomes(PASS, model_of(shape, geometry), {"x": x}, image_of(x, geometry))
    assert done.ops == ["Reshape", "Gather", "Reshape"]


def test_infinities_stay_in_their_pixels() -> None:
    shape = shape_of(PLAIN, 1)
    x = numbers(shape)
    x[0, 0, 20], x[0, 4, 3] = np.inf, np.nan
    becomes(PASS, model_of(shape), {"x": x}, image_of(x, PLAIN), **CLOSE)


@pytest.mark.parametrize(
    ("kind", "rtol"), [(TensorProto.DOUBLE, 1e-12), (TensorProto.FLOAT16, 5e-3)]
)
def test_other_types(kind: int, rtol: float) -> None:
    shape = shape_of(PLAIN, 2)
    x = numbers(shape, numpy_dtype(kind))
    expected = image_of(x.astype(np.float64), PLAIN).astype(x.dtype)
    becomes(PASS, model_of(shape, dtype=kind), {"x": x}, expected, rtol=rtol, atol=rtol)


def test_against_the_numpy_model() -> None:
    evaluators = {("org.pytorch.aten", "ATen.col2im"): evaluate}
    for geometry in GEOMETRIES:
        shape = shape_of(geometry, 2)
        feed = {"x": numbers(shape)}
        model = model_of(shape, geometry)
        assert_rewrite(PASS, model, feeds=[feed], evaluators=evaluators, **CLOSE)


def test_in_a_branch() -> None:
    shape = shape_of(PLAIN, 1)
    x = numbers(shape)
    done = run_pass(PASS, in_branch(model_of(shape)))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = outputs_of(done.after, {"x": x, "c": np.array(False)})["y"]
    np.testing.assert_allclose(y, image_of(x, PLAIN), **CLOSE)


@given(
    kernel=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    dilation=st.tuples(st.integers(1, 2), st.integers(1, 2)),
    padding=st.tuples(st.integers(0, 2), st.integers(0, 2)),
    stride=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    opset=st.sampled_from([7, 11, 13, 18]),
)
def test_any_window(kernel: Pair, dilation: Pair, padding: Pair, stride: Pair, opset: int) -> None:
    geometry = (kernel, dilation, padding, stride)
    shape = shape_of(geometry, 2)
    x = numbers(shape)
    model = model_of(shape, geometry, opset=opset)
    becomes(PASS, model, {"x": x}, image_of(x, geometry), **CLOSE)
