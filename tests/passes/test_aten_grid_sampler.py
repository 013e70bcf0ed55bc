import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto, helper

from graphfix.report import Status
from graphfix.testing import assert_rewrite, outputs_of, run_pass
from passes.aten.aten_grid_sampler import evaluate
from tests.passes.aten_models import LAYOUTS, Array, array_of, aten_model, becomes, numpy_dtype
from tests.passes.resize_models import in_branch

PASS = "aten-grid-sampler"
CLOSE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-5}
MODES = ("linear", "nearest", "cubic")
PADDINGS = ("zeros", "border", "reflection")


def model_of(
    x: list[int | str] | None,
    grid: list[int | str] | None = None,
    mode: int = 0,
    padding: int = 0,
    aligned: bool = False,
    operator: str = "grid_sampler",
    attributes: dict[str, int] | None = None,
    **other: Any,
) -> ModelProto:
    rank = len(x or [0] * 4)
    arguments = [] if attributes else [np.array(mode), np.array(padding), np.array(aligned)]
    model = aten_model(
        operator,
        x,
        ["grid", *arguments],
        outputs={"y": (None, rank)},
        attributes=attributes,
        **other,
    )
    kind = other.get("dtype", TensorProto.FLOAT)
    shape = grid or [2, *[3] * (rank - 2), rank - 2]
    model.graph.input.append(helper.make_tensor_value_info("grid", kind, shape))
    return model


def feeds(*shape: int, dtype: Any = np.float32) -> dict[str, Array]:
    axes = len(shape) - 2
    grid = 0.9 * array_of(shape[0], *[3] * axes, axes, seed=7)
    return {"x": array_of(*shape, dtype=dtype), "grid": grid.astype(dtype)}


def pixel(x: Array, place: tuple[int, ...], padding: str, aligned: bool) -> Array:
    """Return the channels of one pixel, inside or outside: [C]."""
    inside: list[int] = []
    for at, size in zip(place, x.shape[1:], strict=True):
        if padding == "border":
            at = min(max(at, 0), size - 1)
        while padding == "reflection" and not 0 <= at < size:
            edge = 0 if at < 0 else size - 1
            if aligned and size == 1:
                at = 0
            else:
                at = 2 * edge - at if aligned else 2 * edge - at + (-1 if edge == 0 else 1)
        if not 0 <= at < size:
            return np.zeros(x.shape[0])
        inside.append(at)
    return np.asarray(np.moveaxis(x, 0, -1)[tuple(inside)])


def sampled(feed: dict[str, Array], mode: str, padding: str, aligned: bool) -> Array:
    """Sample point by point in float64, padding pixels instead of coordinates."""
    x, grid = feed["x"].astype(np.float64), feed["grid"].astype(np.float64)
    sizes = x.shape[2:]
    y = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    for point in np.ndindex(*grid.shape[:-1]):
        lines: list[list[tuple[int, float]]] = []
        for coordinate, size in zip(grid[point][::-1], sizes, strict=True):
            at = (coordinate + 1) / 2 * (size - 1)
            if not aligned:
                at = ((coordinate + 1) * size - 1) / 2
            if mode == "nearest":
                lines.append([(round(at), 1.0)])
                continue
            if padding == "border" and mode == "linear":
                at = min(max(at, 0.0), size - 1.0)
            low = int(np.floor(at))
            t = at - low
            if mode == "linear":
                lines.append([(low, 1 - t), (low + 1, t)])
            else:
                steps = (-1, 0, 1, 2)
                lines.append([(low + k, keys(abs(t - k))) for k in steps])
        total = np.zeros(x.shape[1])
        for picked in product(*lines):
            share = math.prod(weight for _, weight in picked)
            place = tuple(index for index, _ in picked)
            total += share * pixel(x[point[0]], place, padding, aligned)
        y[(point[0], slice(None), *point[1:])] = total
    return y.astype(feed["x"].dtype)


def keys(d: float, a: float = -0.75) -> float:
    """Return the cubic kernel at a distance."""
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else 0.0


@pytest.mark.parametrize("opset", [9, 11, 13, 16, 18, 20, 21])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_opset_and_layout(opset: int, layout: str) -> None:
    feed = feeds(2, 3, 5, 6)
    model = model_of([2, 3, 5, 6], layout=layout, opset=opset)
    done = becomes(PASS, model, feed, sampled(feed, "linear", "zeros", False), **CLOSE)
    assert ("GridSample" in done.ops) == (opset >= 16)


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("padding", [0, 1, 2])
@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.parametrize("opset", [13, 16])
def test_images(opset: int, mode: int, padding: int, aligned: bool) -> None:
    feed = feeds(2, 3, 5, 6)
    model = model_of([2, 3, 5, 6], None, mode, padding, aligned, opset=opset)
    expected = sampled(feed, MODES[mode], PADDINGS[padding], aligned)
    becomes(PASS, model, feed, expected, **CLOSE)


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("padding", [0, 1, 2])
@pytest.mark.parametrize("mode", [0, 1])
def test_volumes(mode: int, padding: int, aligned: bool) -> None:
    feed = feeds(2, 3, 3, 4, 5)
    model = model_of([2, 3, 3, 4, 5], None, mode, padding, aligned, opset=16)
    expected = sampled(feed, MODES[mode], PADDINGS[padding], aligned)
    done = becomes(PASS, model, feed, expected, **CLOSE)
    assert "GridSample" not in done.ops


def test_volumes_of_opset_20_have_an_operator() -> None:
    feed = feeds(2, 3, 3, 4, 5)
    model = model_of([2, 3, 3, 4, 5], opset=20)
    expected = sampled(feed, "linear", "zeros", False)
    becomes(PASS, model, feed, expected, ops=["GridSample"], **CLOSE)


@pytest.mark.parametrize(("opset", "name"), [(16, b"bicubic"), (20, b"cubic")])
def test_cubic(opset: int, name: bytes) -> None:
    feed = feeds(2, 3, 5, 6)
    for padding in (0, 1):
        model = model_of([2, 3, 5, 6], None, 2, padding, True, opset=opset)
        expected = sampled(feed, "cubic", PADDINGS[padding], True)
        done = becomes(PASS, model, feed, expected, ops=["GridSample"], **CLOSE)
        node = next(n for n in done.after.graph.node if n.op_type == "GridSample")
        assert [a.s for a in node.attribute if a.name == "mode"] == [name]


@pytest.mark.parametrize("operator", ["grid_sampler_2d", "grid_sampler"])
def test_attributes(operator: str) -> None:
    feed = feeds(2, 3, 5, 6)
    attributes = {"interpolation_mode": 1, "padding_mode": 1, "align_corners": 1}
    model = model_of([2, 3, 5, 6], operator=operator, attributes=attributes, layout="default")
    becomes(PASS, model, feed, sampled(feed, "nearest", "border", True), **CLOSE)


def test_dynamic_batch_and_grid() -> None:
    feed = feeds(2, 3, 5, 6)
    model = model_of(["N", 3, 5, 6], ["N", "H", "W", 2], opset=13)
    becomes(PASS, model, feed, sampled(feed, "linear", "zeros", False), **CLOSE)


@pytest.mark.parametrize(
    ("kind", "tolerance"), [(TensorProto.DOUBLE, 1e-12), (TensorProto.FLOAT16, 2e-2)]
)
def test_other_types(kind: int, tolerance: float) -> None:
    feed = feeds(2, 3, 5, 6, dtype=numpy_dtype(kind))
    model = model_of([2, 3, 5, 6], dtype=kind, opset=13)
    expected = sampled(feed, "linear", "zeros", False)
    becomes(PASS, model, feed, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.parametrize("padding", [0, 1, 2])
def test_against_the_numpy_model(mode: int, padding: int) -> None:
    evaluators = {("org.pytorch.aten", "ATen.grid_sampler"): evaluate}
    for aligned in (False, True):
        for shape in ([2, 3, 5, 6], [2, 3, 3, 4, 5]):
            model = model_of([*shape], None, mode, padding, aligned, opset=13)
            feed = feeds(*shape)
            assert_rewrite(PASS, model, feeds=[feed], evaluators=evaluators, **CLOSE)


@pytest.mark.parametrize("padding", [0, 1, 2])
@pytest.mark.parametrize("aligned", [False, True])
def test_the_numpy_model_knows_cubic(padding: int, aligned: bool) -> None:
    feed = feeds(2, 3, 5, 6)
    numbers = (np.array(2), np.array(padding), np.array(aligned))
    y = evaluate([feed["x"], feed["grid"], *numbers], {})[0]
    np.testing.assert_allclose(y, sampled(feed, "cubic", PADDINGS[padding], aligned), **CLOSE)


def test_in_a_branch() -> None:
    feed = feeds(2, 3, 5, 6)
    done = run_pass(PASS, in_branch(model_of([2, 3, 5, 6], opset=13)))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = outputs_of(done.after, {**feed, "c": np.array(False)})["y"]
    np.testing.assert_allclose(y, sampled(feed, "linear", "zeros", False), **CLOSE)


@given(
    sizes=st.lists(st.integers(1, 5), min_size=2, max_size=3),
    mode=st.integers(0, 1),
    padding=st.integers(0, 2),
    aligned=st.booleans(),
    opset=st.sampled_from([11, 13, 15]),
)
def test_any_sampling(sizes: list[int], mode: int, padding: int, aligned: bool, opset: int) -> None:
    feed = feeds(2, 2, *sizes)
    model = model_of([2, 2, *sizes], None, mode, padding, aligned, opset=opset)
    # Ties of nearest sampling depend on the last bit of a coordinate in its own type.
    expected = evaluate(
        [feed["x"], feed["grid"], np.array(mode), np.array(padding), np.array(aligned)], {}
    )[0]
    becomes(PASS, model, feed, expected, **CLOSE)
