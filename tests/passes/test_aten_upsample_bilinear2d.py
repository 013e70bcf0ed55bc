from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto

from graphfix.report import Status
from graphfix.testing import assert_refused, assert_rewrite, outputs_of, run_pass
from passes.aten.aten_upsample_bilinear2d import evaluate
from tests.passes.aten_models import LAYOUTS, Array, array_of, aten_model, becomes
from tests.passes.resize_models import in_branch

PASS = "aten-upsample-bilinear2d"
CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 2e-6}
ALIGNED, NOT = np.array(True), np.array(False)


def resampled(
    x: Array, output: Sequence[int], *, align: bool, factors: Sequence[float] = ()
) -> Array:
    """Interpolate with numpy.interp, which knows nothing of matrices."""
    result = x.astype(np.float64)
    for position, count in enumerate(output):
        axis = 2 + position
        size = x.shape[axis]
        if align:
            places = np.arange(count) * ((size - 1) / max(count - 1, 1))
        else:
            ratio = 1 / factors[position] if factors else size / count
            places = (np.arange(count) + 0.5) * ratio - 0.5
        lines = np.moveaxis(result, axis, -1).reshape(-1, size)
        numbers: Array = np.array(range(size), dtype=np.float64)
        taken = np.stack([np.interp(places, numbers, line) for line in lines])
        shape = np.moveaxis(result, axis, -1).shape[:-1]
        result = np.moveaxis(taken.reshape(*shape, count), -1, axis)
    return result.astype(x.dtype)


def ints(*values: int) -> Array:
    return np.array(values, dtype=np.int64)


def floats(*values: float) -> Array:
    return np.array(values, dtype=np.float32)


@pytest.mark.parametrize("opset", [7, 9, 10, 11, 13, 18, 21])
@pytest.mark.parametrize("align", [True, False])
@pytest.mark.parametrize("output", [(10, 12), (3, 8), (1, 1), (5, 12)])
def test_output_sizes(opset: int, align: bool, output: tuple[int, int]) -> None:
    x = array_of(1, 3, 5, 6)
    arguments = [ints(*output), np.array(align), None, None]
    model = aten_model("upsample_bilinear2d", [1, 3, 5, 6], arguments, opset=opset)
    ops = ["MatMul"] * sum(a != b for a, b in zip(output, (5, 6), strict=True))
    becomes(PASS, model, {"x": x}, resampled(x, output, align=align), ops=ops, **CLOSE)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("align", [True, False])
def test_every_layout(layout: str, align: bool) -> None:
    x = array_of(1, 3, 5, 6)
    wanted = resampled(x, (10, 12), align=align)
    if layout in ("default", "aten"):
        attributes = {"align_corners": int(align), "output_size": [10, 12]}
        model = aten_model(
            "upsample_bilinear2d", [1, 3, 5, 6], layout=layout, attributes=attributes
        )
        becomes(PASS, model, {"x": x}, wanted, **CLOSE)
    for size, factors in ((ints(10, 12), None), (None, floats(2, 2))):
        arguments = [size, np.array(align), factors]
        model = aten_model("upsample_bilinear2d", [1, 3, 5, 6], arguments, layout=layout)
        becomes(PASS, model, {"x": x}, wanted, **CLOSE)
        model = aten_model(
            "upsample_bilinear2d", [1, 3, 5, 6], arguments, layout=layout, overload="vec"
        )
        if layout != "named":
            becomes(PASS, model, {"x": x}, wanted, **CLOSE)


def test_factors_are_used_as_given_where_corners_are_not_aligned() -> None:
    x = array_of(1, 2, 5, 7)
    model = aten_model("upsample_bilinear2d", [1, 2, 5, 7], [None, NOT, floats(1.5, 0.7)])
    wanted = resampled(x, (7, 4), align=False, factors=(1.5, 0.7))
    becomes(PASS, model, {"x": x}, wanted, **CLOSE)
    arguments = [ints(7, 4), NOT, np.array(1.5), np.array(0.7)]
    model = aten_model("upsample_bilinear2d", [1, 2, 5, 7], arguments)
    becomes(PASS, model, {"x": x}, wanted, **CLOSE)


def test_the_output_size_of_a_factor_stored_in_float32() -> None:
    # 10 * 0.7 is 7 for the number that was written and 6.99... for the one stored.
    model = aten_model("upsample_bilinear2d", [1, 2, 10, 10], [None, NOT, floats(0.7, 0.7)])
    assert_refused(PASS, model, "must not decide the output size")
    for dim in model.graph.output[0].type.tensor_type.shape.dim[2:]:
        dim.dim_value = 7
    x = array_of(1, 2, 10, 10)
    wanted = resampled(x, (7, 7), align=False, factors=(0.7, 0.7))
    becomes(PASS, model, {"x": x}, wanted, **CLOSE)
    model.graph.output[0].type.tensor_type.shape.dim[2].dim_value = 8
    assert_refused(PASS, model, "must not decide the output size")


@pytest.mark.parametrize(
    ("operator", "shape", "output"),
    [("upsample_linear1d", (2, 3, 5), (9,)), ("upsample_trilinear3d", (1, 2, 3, 4, 5), (6, 3, 8))],
)
@pytest.mark.parametrize("align", [True, False])
def test_other_ranks(
    operator: str, shape: tuple[int, ...], output: tuple[int, ...], align: bool
) -> None:
    x = array_of(*shape)
    model = aten_model(operator, shape, [ints(*output), np.array(align)])
    becomes(PASS, model, {"x": x}, resampled(x, output, align=align), **CLOSE)


@pytest.mark.parametrize("opset", [11, 13, 18])
@pytest.mark.parametrize("align", [True, False])
def test_dynamic_sizes_become_resize(opset: int, align: bool) -> None:
    x = array_of(2, 3, 5, 6)
    wanted = resampled(x, (10, 18), align=align)
    shape: list[int | str] = ["N", "C", "H", "W"]
    for arguments in (
        [None, np.array(align), floats(2, 3)],
        [ints(10, 18), np.array(align), None, None],
    ):
        model = aten_model("upsample_bilinear2d", shape, arguments, opset=opset)
        done = becomes(PASS, model, {"x": x}, wanted, **CLOSE)
        assert "Resize" in done.ops


@pytest.mark.parametrize(
    ("kind", "dtype", "tolerance"),
    [(TensorProto.DOUBLE, np.float64, 1e-12), (TensorProto.FLOAT16, np.float16, 1e-3)],
)
def test_other_types(kind: int, dtype: Any, tolerance: float) -> None:
    x = array_of(1, 2, 5, 6, dtype=dtype)
    model = aten_model("upsample_bilinear2d", [1, 2, 5, 6], [ints(7, 9), ALIGNED], dtype=kind)
    wanted = resampled(x, (7, 9), align=True)
    becomes(PASS, model, {"x": x}, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    "arguments",
    [
        [ints(10, 9), ALIGNED, None, None],
        [ints(10, 9), NOT, np.array(2.0), np.array(1.6)],
        [None, NOT, floats(2, 1.6)],
        [None, ALIGNED, floats(2, 1.6)],
    ],
)
def test_against_the_numpy_model(arguments: list[Any]) -> None:
    assert_rewrite(
        PASS,
        aten_model("upsample_bilinear2d", [1, 2, 5, 6], arguments),
        feeds=[{"x": array_of(1, 2, 5, 6)}],
        evaluators={("org.pytorch.aten", "ATen.upsample_bilinear2d"): evaluate},
        **CLOSE,
    )


def test_in_a_branch() -> None:
    x = array_of(1, 2, 5, 6)
    model = aten_model("upsample_bilinear2d", [1, 2, 5, 6], [ints(7, 9), ALIGNED])
    done = run_pass(PASS, in_branch(model))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = outputs_of(done.after, {"x": x, "c": np.array(False)})["y"]
    np.testing.assert_allclose(y, resampled(x, (7, 9), align=True), **CLOSE)


@given(
    size=st.tuples(st.integers(1, 8), st.integers(1, 8)),
    output=st.tuples(st.integers(1, 12), st.integers(1, 12)),
    align=st.booleans(),
    opset=st.sampled_from([7, 9, 11, 13, 18]),
)
def test_any_size(size: tuple[int, int], output: tuple[int, int], align: bool, opset: int) -> None:
    x = array_of(1, 2, *size)
    arguments = [ints(*output), np.array(align)]
    model = aten_model("upsample_bilinear2d", [1, 2, *size], arguments, opset=opset)
    becomes(PASS, model, {"x": x}, resampled(x, output, align=align), **CLOSE)
