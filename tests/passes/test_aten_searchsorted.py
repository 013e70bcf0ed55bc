"""aten-searchsorted: places in sorted sequences on either side, and counts."""

from typing import Literal

import numpy as np
import pytest
from onnx import TensorProto, helper

from graphfix.authoring import Refuse
from graphfix.report import Status
from graphfix.testing import outputs_of, run_pass
from passes.aten.aten_searchsorted import FAMILY
from tests.passes.aten_models import array_of, called, replaced

PASS = "aten-searchsorted"
LIMITS = np.array([-1, 0, 0, 0.5, 2], np.float32)
VALUES = np.array([[-2, -1, 0, 0.2], [0.5, 2, 3, np.nan], [np.inf, -np.inf, -0.0, 1]], np.float32)


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("dynamic", [False, True])
def test_either_side_of_a_sequence(right: bool, narrow: bool, dynamic: bool) -> None:
    inputs = [VALUES, LIMITS, narrow, right]
    replaced(PASS, FAMILY.evaluate, "bucketize", inputs, overload="Tensor", fed=2, dynamic=dynamic)
    inputs = [LIMITS, VALUES, narrow, right, None, None]
    replaced(
        PASS, FAMILY.evaluate, "searchsorted", inputs, overload="Tensor", fed=2, dynamic=dynamic
    )


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("written", ["initializer", "Constant of PyTorch"])
def test_a_side_by_its_name(side: Literal["left", "right"], written: str) -> None:
    inputs = [LIMITS, VALUES, False, False, np.array(side, object), None]
    places = np.searchsorted(LIMITS, VALUES, side)
    model, feed = called("searchsorted", inputs, [places], overload="Tensor", fed=2)
    if written == "Constant of PyTorch":
        text = next(t for t in model.graph.initializer if t.data_type == TensorProto.STRING)
        model.graph.node.insert(0, helper.make_node("Constant", [], [text.name], value=side))
        model.graph.initializer.remove(text)
    done = run_pass(PASS, model)
    assert done.with_status(Status.APPLIED)
    (given,) = outputs_of(done.after, feed).values()
    assert (given == places).all()


def test_integers_scalars_and_nothing() -> None:
    limits = np.array([1, 3, 3, 9])
    replaced(PASS, FAMILY.evaluate, "bucketize", [np.arange(11), limits, False, True],
             overload="Tensor")  # fmt: skip
    replaced(PASS, FAMILY.evaluate, "bucketize", [np.int64(4), limits, False, False],
             overload="Tensor")  # fmt: skip
    replaced(PASS, FAMILY.evaluate, "bucketize", [np.zeros(0, np.int64), limits, False, False],
             overload="Tensor")  # fmt: skip


@pytest.mark.parametrize("least", [0, 3, 12])
@pytest.mark.parametrize("dynamic", [False, True])
def test_counts_are_as_long_as_the_largest_number(least: int, dynamic: bool) -> None:
    x = np.array([3, 0, 7, 3, 3])
    replaced(PASS, FAMILY.evaluate, "bincount", [x, None, least], dynamic=dynamic)
    weights = array_of(5)
    replaced(
        PASS, FAMILY.evaluate, "bincount", [x, weights, least], fed=2, dynamic=dynamic, rtol=1e-6
    )


def test_counts_of_nothing_and_of_small_integers() -> None:
    replaced(PASS, FAMILY.evaluate, "bincount", [np.zeros(0, np.int64), None, 0])
    replaced(PASS, FAMILY.evaluate, "bincount", [np.zeros(0, np.int64), None, 2])
    replaced(PASS, FAMILY.evaluate, "bincount", [np.array([1, 1, 0], np.int32), None, 0])


def test_the_model_says_nothing_of_entries_that_are_not_sorted() -> None:
    call = {"operator": "bucketize", "overload_name": "Tensor"}
    entries, right = np.array([2.0, 1.0], np.float32), np.array(False)
    with pytest.raises(Refuse, match="the entries must be sorted; they are not"):
        FAMILY.evaluate([np.array([3], np.float32), entries, right, right], call)
