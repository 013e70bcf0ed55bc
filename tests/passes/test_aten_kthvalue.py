from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto

from graphfix.report import APPROXIMATE, Status
from graphfix.testing import assert_refused, assert_rewrite, outputs_of, run_pass
from passes.aten.aten_kthvalue import evaluate
from tests.passes.aten_models import LAYOUTS, Output, array_of, aten_model, becomes, numpy_dtype
from tests.passes.resize_models import in_branch

PASS = "aten-kthvalue"


def model_of(
    shape: list[int | str] | None,
    k: int,
    axis: int = -1,
    keep: bool = False,
    used: int = 1,
    **other: Any,
) -> ModelProto:
    rank = len(shape or [0, 0]) - (not keep)
    outputs: dict[str, Output] = {"y": (None, rank), "i": (TensorProto.INT64, rank)}
    arguments = [np.array(k), np.array(axis), np.array(keep)]
    return aten_model("kthvalue", shape, arguments, outputs=outputs, used=used, **other)


@pytest.mark.parametrize("opset", [7, 9, 10, 11, 13, 18, 21])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_opset_and_layout(opset: int, layout: str) -> None:
    x = array_of(3, 5)
    for k in range(1, 6):
        model = model_of([3, 5], k, layout=layout, opset=opset)
        done = becomes(PASS, model, {"x": x}, np.sort(x)[:, k - 1])
        assert ("Neg" in done.ops) == (k < 3)


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_axes(axis: int, keep: bool) -> None:
    x = array_of(3, 4, 5)
    expected = np.take(np.sort(x, axis=axis), [1], axis=axis)
    model = model_of([3, 4, 5], 2, axis, keep)
    becomes(PASS, model, {"x": x}, expected if keep else expected.squeeze(axis))


@pytest.mark.parametrize("kind", [TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE])
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("k", [1, 2, 4, 5])
def test_places_of_floats(k: int, keep: bool, kind: int) -> None:
    x = array_of(3, 5).astype(numpy_dtype(kind))
    done = run_pass(PASS, model_of([3, 5], k, keep=keep, used=2, dtype=kind))
    (site,) = [site for outcome in done.outcomes for site in outcome.sites]
    assert site.accuracy == APPROXIMATE
    given_back = outputs_of(done.after, {"x": x})
    places = np.argsort(x, axis=1)[:, k - 1 : k]
    np.testing.assert_array_equal(given_back["i"], places if keep else places[:, 0])


def test_infinities() -> None:
    x = np.array([np.inf, 0, -np.inf, 5], dtype=np.float32)
    for k, value in enumerate((-np.inf, 0, 5, np.inf), 1):
        becomes(PASS, model_of([4], k), {"x": x}, np.array(value, dtype=np.float32))


@pytest.mark.parametrize(
    "kind",
    [
        TensorProto.DOUBLE,
        TensorProto.FLOAT16,
        TensorProto.INT32,
        TensorProto.INT64,
        TensorProto.INT8,
        TensorProto.UINT8,
        TensorProto.INT16,
        TensorProto.UINT16,
    ],
)
def test_other_types(kind: int) -> None:
    x = np.array([[7, 3, 100, 3, 50]]).astype(numpy_dtype(kind))
    for k in (1, 2, 5):
        becomes(PASS, model_of([1, 5], k, dtype=kind), {"x": x}, np.sort(x)[:, k - 1])


def test_other_axes_may_be_dynamic() -> None:
    x = array_of(3, 5)
    becomes(PASS, model_of(["N", 5], 2), {"x": x}, np.sort(x)[:, 1])
    assert_refused(PASS, model_of([3, "W"], 2), "size of axis 1")


def test_against_the_numpy_model() -> None:
    evaluators = {("org.pytorch.aten", "ATen.kthvalue"): evaluate}
    for axis, keep in ((1, False), (0, True)):
        model = model_of([3, 5], 3, axis, keep)
        assert_rewrite(PASS, model, feeds=[{"x": array_of(3, 5)}], evaluators=evaluators)


def test_numpy_model_gives_indices() -> None:
    x = np.array([[3, 1, 2], [4, 6, 5]], dtype=np.float32)
    values, indices = evaluate([x, np.array(2), np.array(1), np.array(True)], {})
    assert values.tolist() == [[2], [5]]
    assert indices.tolist() == [[2], [2]]


def test_in_a_branch() -> None:
    x = array_of(3, 4)
    model = model_of([3, 4], 2)
    model.graph.node[0].output[1] = ""
    done = run_pass(PASS, in_branch(model))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = outputs_of(done.after, {"x": x, "c": np.array(False)})["y"]
    np.testing.assert_array_equal(y, np.sort(x)[:, 1])


@given(
    size=st.integers(1, 9),
    share=st.floats(0, 1),
    opset=st.sampled_from([7, 10, 13, 18]),
    seed=st.integers(0, 99),
)
def test_any_value(size: int, share: float, opset: int, seed: int) -> None:
    x = np.round(array_of(3, size, seed=seed))
    k = 1 + round(share * (size - 1))
    model = model_of(["N", size], k, opset=opset)
    becomes(PASS, model, {"x": x}, np.sort(x)[:, k - 1])
