from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto

from graphfix.report import Status
from graphfix.testing import assert_rewrite, outputs_of, run_pass
from passes.aten.aten_diag_embed import evaluate
from tests.passes.aten_models import LAYOUTS, Array, array_of, aten_model, becomes, numpy_dtype
from tests.passes.resize_models import in_branch

PASS = "aten-diag-embed"


def model_of(
    shape: list[int | str] | None, offset: int = 0, first: int = -2, second: int = -1, **other: Any
) -> ModelProto:
    rank = len(shape or [0]) + 1
    arguments = [np.array(offset), np.array(first), np.array(second)]
    return aten_model("diag_embed", shape, arguments, outputs={"y": (None, rank)}, **other)


def embedded(x: Array, offset: int = 0, first: int = -2, second: int = -1) -> Array:
    """Put the vectors on diagonals through np.diag, one after the other."""
    flat = [np.diag(line, offset) for line in x.reshape(-1, x.shape[-1])]
    stacked = np.stack(flat).reshape(*x.shape[:-1], *flat[0].shape)
    return np.ascontiguousarray(np.moveaxis(stacked, (-2, -1), (first, second)))


@pytest.mark.parametrize("opset", [7, 9, 11, 13, 18, 21])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_opset_and_layout(opset: int, layout: str) -> None:
    x = array_of(2, 3)
    for offset in (0, 1, -2):
        model = model_of([2, 3], offset, layout=layout, opset=opset)
        ops = ["Gather", "Where" if opset >= 9 else "Mul"]
        becomes(PASS, model, {"x": x}, embedded(x, offset), ops=ops)


@pytest.mark.parametrize(("first", "second"), [(0, 1), (1, 0), (0, -1), (-1, 0), (1, 2), (2, 1)])
def test_axes(first: int, second: int) -> None:
    x = array_of(2, 3)
    for offset in (0, 2):
        model = model_of(["N", 3], offset, first, second)
        becomes(PASS, model, {"x": x}, embedded(x, offset, first, second))


@pytest.mark.parametrize(
    "kind", [TensorProto.INT64, TensorProto.BOOL, TensorProto.DOUBLE, TensorProto.FLOAT16]
)
def test_other_types(kind: int) -> None:
    x = np.array([[1, 0, 2], [1, 1, 0]]).astype(numpy_dtype(kind))
    becomes(PASS, model_of([2, 3], -1, dtype=kind), {"x": x}, embedded(x, -1))


def test_against_the_numpy_model() -> None:
    evaluators = {("org.pytorch.aten", "ATen.diag_embed"): evaluate}
    for offset, first in ((0, -2), (-1, 0)):
        model = model_of([2, 3], offset, first)
        assert_rewrite(PASS, model, feeds=[{"x": array_of(2, 3)}], evaluators=evaluators)


def test_in_a_branch() -> None:
    x = array_of(3)
    done = run_pass(PASS, in_branch(model_of([3])))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = outputs_of(done.after, {"x": x, "c": np.array(False)})["y"]
    np.testing.assert_array_equal(y, np.diag(x))


@given(
    length=st.integers(1, 5),
    offset=st.integers(-3, 3),
    opset=st.sampled_from([7, 9, 13, 18]),
    axes=st.permutations([0, 1, 2]),
)
def test_any_diagonal(length: int, offset: int, opset: int, axes: list[int]) -> None:
    x = array_of(2, length)
    model = model_of(["N", length], offset, axes[0], axes[1], opset=opset)
    becomes(PASS, model, {"x": x}, embedded(x, offset, axes[0], axes[1]))
