"""aten-unsafe-masked-index: elements at places, another value where a mask is not set."""

from typing import Any

import numpy as np
import pytest

from graphfix.report import Status
from graphfix.testing import assert_refused, outputs_of, run_pass
from passes.aten.aten_unsafe_masked_index import FAMILY
from tests.passes.aten_models import Array, array_of, called, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-unsafe-masked-index"
ROWS, COLUMNS = np.array([[0], [3], [-1], [99]]), np.array([[0, -5, 4]])
MASK = np.array([[True, False, True], [True, True, True], [False, True, True], [False] * 3])
OPERATOR = "_unsafe_masked_index"


def wanted(x: Array, fill: float) -> Array:
    found = np.full((4, 3), fill, x.dtype)
    for row in range(4):
        for column in range(3):
            if MASK[row, column]:
                found[row, column] = x[ROWS[row, 0], COLUMNS[0, column]]
    return found


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.int32])
@pytest.mark.parametrize("fill", [-7, 0])
def test_values(dtype: Any, fill: int) -> None:
    x = (array_of(4, 5) * 10).astype(dtype)
    inputs = [x, MASK, [ROWS, COLUMNS], fill]
    model, feed = called(OPERATOR, inputs, [x], fed=2)
    y = outputs_of(run_pass(PASS, model).after, feed)["y0"]
    np.testing.assert_array_equal(y, wanted(x, fill))
    replaced(PASS, FAMILY.evaluate, OPERATOR, inputs, fed=2)


@pytest.mark.parametrize("opset", [9, 11, 13, 18])
def test_opsets_and_open_sizes(opset: int) -> None:
    line = [array_of(6), np.array([True, False, True]), [np.array([5, 7, -6])], 1.5]
    for inputs in (line, [array_of(4, 5), MASK, [ROWS, COLUMNS], 1.5]):
        for dynamic in (False, True):
            replaced(PASS, FAMILY.evaluate, OPERATOR, inputs, fed=2, opset=opset, dynamic=dynamic)


def test_indices_of_int32() -> None:
    inputs = [array_of(4, 5), MASK, [ROWS.astype(np.int32), COLUMNS.astype(np.int32)], 2.0]
    replaced(PASS, FAMILY.evaluate, OPERATOR, inputs, fed=2)


def test_in_a_branch() -> None:
    x = array_of(4, 5)
    model, feed = called(OPERATOR, [x, MASK, [ROWS, COLUMNS], 0.5], [x], fed=2)
    model.graph.node[-1].output[0] = model.graph.output[0].name = "y"
    done = run_pass(PASS, in_branch(model))
    assert sum(len(o.sites) for o in done.with_status(Status.APPLIED)) == 2
    y = next(iter(outputs_of(done.after, {**feed, "c": np.array(True)}).values()))
    np.testing.assert_array_equal(y, wanted(x, 0.5))


def test_refusals() -> None:
    x = array_of(4, 5)

    def model(inputs: list[Any]) -> Any:
        return called(OPERATOR, inputs, [x], fed=2)[0]

    assert_refused(PASS, model([x, MASK, [ROWS], 0.5]), "an index for each of 2 axes; there are 1")
    number = model([x, MASK.astype(np.int64), [ROWS, COLUMNS], 0.5])
    assert_refused(PASS, number, "must be a boolean; it is int64")
    floats = [ROWS.astype(np.float32), COLUMNS.astype(np.float32)]
    assert_refused(PASS, model([x, MASK, floats, 0.5]), "must be int32 or int64")
