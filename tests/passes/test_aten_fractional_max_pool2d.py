"""aten-fractional-max-pool2d: windows at computed places."""

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, helper

from graphfix.testing import assert_refused, outputs_of, run_pass
from passes.aten.aten_fractional_max_pool2d import FAMILY
from tests.passes.aten_models import array_of, aten_model, called, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-fractional-max-pool2d"
X = array_of(2, 3, 11, 14)
SAMPLES = np.random.default_rng(6).random((2, 3, 2)).astype(np.float32)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", [[1, 1], [2, 3], [3, 2]])
@pytest.mark.parametrize("output", [[5, 6], [9, 4], [1, 1], [9, 12]])
def test_windows(output: list[int], kernel: list[int], dtype: Any) -> None:
    arguments = [X.astype(dtype), kernel, output, SAMPLES.astype(dtype)]
    replaced(PASS, FAMILY.evaluate, "fractional_max_pool2d", arguments)


def test_samples_that_are_computed() -> None:
    model, feed = call(X, [2, 3], [5, 6])
    (samples,) = [t for t in model.graph.initializer if t.name == "x3"]
    model.graph.initializer.remove(samples)
    shape = list(SAMPLES.shape)
    model.graph.input.append(helper.make_tensor_value_info("x3", samples.data_type, shape))
    found = outputs_of(run_pass(PASS, model).after, {**feed, "x3": SAMPLES})
    given: list[Any] = [X, np.array([2, 3]), np.array([5, 6]), SAMPLES]
    wanted = FAMILY.evaluate(given, {"operator": "fractional_max_pool2d"})
    for one, other in zip(found.values(), wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def call(x: Any, kernel: list[int], output: list[int], **how: Any) -> tuple[ModelProto, Any]:
    """Return a model with the samples as its other input."""
    y = array_of(2, 3, *output)
    places = np.zeros(y.shape, np.int64)
    given = how.pop("samples", SAMPLES)
    return called("fractional_max_pool2d", [x, kernel, output, given], [y, places], **how)


def test_what_is_no_number_is_the_largest() -> None:
    x = np.zeros((2, 3, 4, 4), np.float32)
    x[0, 0, 1, 2] = np.nan
    model, feed = call(x, [4, 4], [1, 1])
    found = outputs_of(run_pass(PASS, model).after, feed)
    assert np.isnan(found["y0"][0, 0]).all()
    assert found["y1"][0, 0].tolist() == [[6]]


def test_in_a_branch() -> None:
    arguments = [np.array([2, 2]), np.array([5, 6]), SAMPLES]
    done = run_pass(PASS, in_branch(aten_model("fractional_max_pool2d", [*X.shape], arguments)))
    assert sum(len(outcome.sites) for outcome in done.outcomes) == 2


def test_the_numpy_model_takes_samples_below_1() -> None:
    arguments: list[Any] = [X, np.array([2, 2]), np.array([5, 6]), SAMPLES + 1]
    with pytest.raises(Exception, match="samples must be from 0 to below 1"):
        FAMILY.evaluate(arguments, {"operator": "fractional_max_pool2d"})


def test_refusals() -> None:
    model, _ = call(X, [2, 2], [5, 6], dynamic=True)
    assert_refused(PASS, model, "the sizes of the images of x0 must be known; one is open")
    model, _ = call(X, [4, 2], [9, 6])
    assert_refused(PASS, model, "windows must fit into the images; they are 11 by 14")
    model, _ = call(X[0], [2, 2], [5, 6])
    assert_refused(PASS, model, "must be float32 or float64 of rank 4; it is float32 of rank 3")
    model, _ = call(X, [2, 2], [5, 6], samples=SAMPLES.astype(np.float64))
    assert_refused(PASS, model, "x3 must be of rank 3 and of the type of x0")
    model, _ = call(X, [2, 2], [5, 6], opset=10)
    assert_refused(PASS, model, "the opset must be at least 11; it is 10")
