from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto

from graphfix.report import Status
from graphfix.testing import assert_refused, assert_rewrite, outputs_of, run_pass
from passes.aten.aten_adaptive_max_pool2d import evaluate
from tests.passes.aten_models import LAYOUTS, Array, Output, array_of, aten_model, becomes, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-adaptive-max-pool2d"


def pooled(x: Array, output: Sequence[int]) -> Array:
    """Return the maxima of PyTorch's windows, one axis after the other."""
    result: Array = x
    for position, count in enumerate(output):
        axis = x.ndim - len(output) + position
        size = x.shape[axis]
        parts: list[Array] = []
        for i in range(count):
            start, end = int(np.floor(i * size / count)), int(np.ceil((i + 1) * size / count))
            parts.append(np.asarray(result.take(range(start, end), axis).max(axis=axis)))
        result = np.asarray(np.stack(parts, axis=axis))
    return result


def max_model(
    shape: Sequence[int | str],
    output: Sequence[int],
    *,
    operator: str = "adaptive_max_pool2d",
    used: int = 1,
    **rest: Any,
) -> ModelProto:
    outputs: dict[str, Output] = {"y": (None, None), "i": (TensorProto.INT64, None)}
    size = np.array(output, dtype=np.int64)
    return aten_model(operator, shape, [size], outputs=outputs, used=used, **rest)


@pytest.mark.parametrize("opset", [7, 9, 11, 13, 17, 18, 21])
@pytest.mark.parametrize(
    ("output", "ops"),
    [
        ((1, 1), ["GlobalMaxPool"]),
        ((2, 3), ["MaxPool"]),
        ((4, 6), ["Identity"]),
        ((4, 4), ["MaxPool", "Gather"]),
        ((3, 6), ["MaxPool", "Gather"]),
        ((7, 7), ["MaxPool", "Concat", "Gather", "MaxPool", "Concat", "Gather"]),
    ],
)
def test_every_kind_of_window(opset: int, output: tuple[int, int], ops: list[str]) -> None:
    x = array_of(2, 3, 4, 6)
    model = max_model([2, 3, 4, 6], output, opset=opset)
    becomes(PASS, model, {"x": x}, pooled(x, output), ops=ops)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout(layout: str) -> None:
    x = array_of(1, 2, 7, 11)
    becomes(PASS, max_model([1, 2, 7, 11], (3, 5), layout=layout), {"x": x}, pooled(x, (3, 5)))


@pytest.mark.parametrize(
    ("operator", "shape", "output"),
    [
        ("adaptive_max_pool1d", (2, 3, 10), (4,)),
        ("adaptive_max_pool1d", (3, 10), (3,)),
        ("adaptive_max_pool2d", (3, 7, 11), (3, 5)),
        ("adaptive_max_pool3d", (1, 2, 5, 7, 8), (2, 3, 3)),
    ],
)
def test_other_ranks(operator: str, shape: tuple[int, ...], output: tuple[int, ...]) -> None:
    x = array_of(*shape)
    becomes(PASS, max_model(shape, output, operator=operator), {"x": x}, pooled(x, output))


@pytest.mark.parametrize(
    ("operator", "shape", "output"),
    [
        ("adaptive_max_pool1d", (2, 3, 10), (4,)),
        ("adaptive_max_pool2d", (2, 3, 4, 6), (2, 3)),
        ("adaptive_max_pool2d", (3, 7, 11), (3, 5)),
        ("adaptive_max_pool3d", (1, 2, 5, 7, 8), (2, 3, 3)),
    ],
)
def test_indices_that_are_used(
    operator: str, shape: tuple[int, ...], output: tuple[int, ...]
) -> None:
    x = np.round(array_of(*shape))  # equal maxima: the first counts
    model = max_model(shape, output, operator=operator, used=2)
    expected = evaluate([x, np.array(output)], {})
    becomes(PASS, model, {"x": x}, [np.asarray(one) for one in expected])


def test_indices_of_an_open_batch() -> None:
    x = array_of(4, 3, 5, 7)
    model = max_model(["N", "C", 5, 7], (3, 4), used=2)
    becomes(PASS, model, {"x": x}, [*evaluate([x, np.array([3, 4])], {})])


@pytest.mark.parametrize("size", [1, 4, 7, 12])
@pytest.mark.parametrize("output", [1, 3, 5])
def test_one_axis_of_open_size(output: int, size: int) -> None:
    for x in (array_of(2, 3, size), array_of(3, size).astype(np.float64)):
        replaced(PASS, evaluate, "adaptive_max_pool1d", [x, [output]], dynamic=True)
        if output > 1 or x.dtype == np.float32:  # onnxruntime has no GlobalMaxPool of float64
            replaced(PASS, evaluate, "adaptive_max_pool1d", [x, [output]], dynamic=True, used=1)


def test_dynamic_sizes() -> None:
    x = array_of(2, 3, 5, 7)
    becomes(PASS, max_model(["N", 3, "H", "W"], (1, 1)), {"x": x}, pooled(x, (1, 1)))
    becomes(PASS, max_model(["N", "C", "H", 7], (1, 3)), {"x": x}, pooled(x, (1, 3)))
    assert_refused(
        PASS, max_model(["N", "C", "H", 7], (2, 3)), "the size of pooled axis 0 of x must be known"
    )


@pytest.mark.parametrize("output", [(1, 1), (2, 3), (3, 4)])
def test_against_the_numpy_model(output: tuple[int, int]) -> None:
    assert_rewrite(
        PASS,
        max_model([2, 3, 4, 6], output),
        feeds=[{"x": array_of(2, 3, 4, 6)}],
        evaluators={("org.pytorch.aten", "ATen.adaptive_max_pool2d"): evaluate},
    )


def test_numpy_model_counts_indices_over_the_pooled_axes() -> None:
    x = np.array([[[[1, 2, 3], [9, 5, 6]]]], dtype=np.float32)
    values, indices = evaluate([x, np.array([1, 2])], {})
    assert values.tolist() == [[[[9, 6]]]]
    assert indices.tolist() == [[[[3, 5]]]]


def test_float64() -> None:
    x = array_of(1, 2, 5, 7, dtype=np.float64)
    model = max_model([1, 2, 5, 7], (3, 4), dtype=TensorProto.DOUBLE)
    becomes(PASS, model, {"x": x}, pooled(x, (3, 4)))


def test_in_a_branch() -> None:
    x = array_of(1, 2, 5, 7)
    done = run_pass(PASS, in_branch(max_model([1, 2, 5, 7], (3, 4))))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = outputs_of(done.after, {"x": x, "c": np.array(False)})["y"]
    np.testing.assert_array_equal(y, pooled(x, (3, 4)))


@given(
    size=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    output=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    opset=st.sampled_from([7, 9, 11, 13, 18]),
)
def test_any_window(size: tuple[int, int], output: tuple[int, int], opset: int) -> None:
    x = array_of(1, 2, *size)
    becomes(PASS, max_model([1, 2, *size], output, opset=opset), {"x": x}, pooled(x, output))
