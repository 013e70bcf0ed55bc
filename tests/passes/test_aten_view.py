"""aten-view: the same elements in another shape."""

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from graphfix.testing import outputs_of, run_pass
from passes.aten.aten_view import FAMILY
from tests.passes.aten_models import array_of, aten_model, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-view"
X = array_of(2, 3, 4)
SHAPED: list[tuple[str, str, list[Any]]] = [
    ("view", "", [[6, -1]]),
    ("reshape", "", [[4, 3, 2]]),
    ("flatten", "using_ints", [1, 2]),
    ("flatten", "using_ints", [0, -1]),
    ("flatten", "using_ints", [-3, 1]),
    ("ravel", "", []),
    ("unsqueeze", "", [-1]),
    ("unsqueeze", "", [1]),
    ("permute", "", [[2, 0, -2]]),
    ("transpose", "int", [0, -1]),
    ("mH", "", []),
    ("expand", "", [[5, 2, -1, 4], 0]),
    ("repeat", "", [[2, 1, 3, 1]]),
    ("tile", "", [[2, 2]]),
    ("atleast_3d", "", []),
    ("clone", "", [None]),
    ("contiguous", "", [None]),
]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize(("operator", "overload", "arguments"), SHAPED)
def test_shapes(operator: str, overload: str, arguments: list[Any], dynamic: bool) -> None:
    how: dict[str, Any] = {"overload": overload, "dynamic": dynamic}
    for dtype in (np.float32, np.int64, np.bool_):
        replaced(PASS, FAMILY.evaluate, operator, [X.astype(dtype), *arguments], **how)


@pytest.mark.parametrize("dynamic", [False, True])
def test_shapes_of_another_tensor(dynamic: bool) -> None:
    for operator in ("view_as", "reshape_as"):
        replaced(PASS, FAMILY.evaluate, operator, [X, array_of(6, 4)], fed=2, dynamic=dynamic)
    wide = array_of(3, 2, 3, 4)
    replaced(PASS, FAMILY.evaluate, "expand_as", [X, wide], fed=2, dynamic=dynamic)
    replaced(PASS, FAMILY.evaluate, "broadcast_to", [X, [3, 2, 3, 4]], dynamic=dynamic)


@pytest.mark.parametrize(("dim", "sizes"), [(1, [3, 1]), (-1, [2, -1])])
def test_one_axis_becomes_several(dim: int, sizes: list[int]) -> None:
    for dynamic in (False, True):
        replaced(PASS, FAMILY.evaluate, "unflatten", [X, dim, sizes], overload="int",
                 dynamic=dynamic)  # fmt: skip


def test_axes_of_size_one_go() -> None:
    x = array_of(1, 3, 1, 2)
    replaced(PASS, FAMILY.evaluate, "squeeze", [x])
    for dim, overload in ((0, "dim"), (1, "dim"), (-2, "dim"), ([0, 2], "dims"), ([1, 3], "dims")):
        replaced(PASS, FAMILY.evaluate, "squeeze", [x, dim], overload=overload)


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_small_ranks(rank: int) -> None:
    x = array_of(*(2, 3)[:rank])
    for operator in ("atleast_1d", "atleast_2d", "atleast_3d", "t", "ravel"):
        replaced(PASS, FAMILY.evaluate, operator, [x])
    replaced(PASS, FAMILY.evaluate, "flatten", [x, 0, -1], overload="using_ints")


def test_a_size_that_is_computed() -> None:
    model = aten_model("view", ["N", 3, 4], ["size"], opset=17, outputs={"y": (None, 2)})
    model.graph.input.append(helper.make_tensor_value_info("size", TensorProto.INT64, [2]))
    done = run_pass(PASS, model)
    given = outputs_of(done.after, {"x": X, "size": np.array([8, 3])})
    np.testing.assert_array_equal(given["y"], X.reshape(8, 3))


def test_below_opset_13() -> None:
    for opset in (9, 11):
        replaced(PASS, FAMILY.evaluate, "unsqueeze", [X, 0], opset=opset)
        replaced(PASS, FAMILY.evaluate, "squeeze", [X[:1], 0], overload="dim", opset=opset)


def test_in_a_branch() -> None:
    done = run_pass(PASS, in_branch(aten_model("ravel", [6], outputs={"y": (None, 1)})))
    assert sum(len(outcome.sites) for outcome in done.outcomes) == 2
