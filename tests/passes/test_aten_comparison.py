"""aten-comparison: comparisons, logic and choices."""

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

from graphfix.testing import assert_refused, outputs_of, run_pass
from passes.aten.aten_comparison import FAMILY
from tests.passes.aten_models import aten_model, called, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-comparison"
A = np.array([[-2.5, np.nan, -0.0], [np.inf, 1.5, -np.inf]], np.float32)
B = np.array([-2.5, np.nan, 0], np.float32)
K = np.array([[-7, -3, -1], [0, 4, 9]], np.int64)
J = np.array([-7, 0, 9], np.int64)
COMPARED = ["eq", "ne", "lt", "le", "gt", "ge"]
ASKED = ["isnan", "isinf", "isfinite", "isposinf", "isneginf", "logical_not"]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("operator", COMPARED)
def test_comparisons(operator: str, dynamic: bool) -> None:
    how: dict[str, Any] = {"overload": "Tensor", "dynamic": dynamic, "fed": 2}
    for pair in ([A, B], [K, J], [K > 0, J > 0], [A, J]):
        replaced(PASS, FAMILY.evaluate, operator, pair, **how)
    replaced(PASS, FAMILY.evaluate, operator, [K, 0.5], overload="Scalar", dynamic=dynamic)


@pytest.mark.parametrize("operator", ["logical_and", "logical_or", "logical_xor"])
def test_logic_of_any_type(operator: str) -> None:
    for pair in ([K, J], [K > 0, J > 0], [np.nan_to_num(A), J]):
        replaced(PASS, FAMILY.evaluate, operator, pair, fed=2)


@pytest.mark.parametrize("operator", ASKED)
def test_questions(operator: str) -> None:
    for x in (A, K, K > 0):
        replaced(PASS, FAMILY.evaluate, operator, [x])


@pytest.mark.parametrize("opset", [17, 18])
@pytest.mark.parametrize("operator", ["bitwise_and", "bitwise_or", "bitwise_xor"])
def test_bits(operator: str, opset: int) -> None:
    replaced(PASS, FAMILY.evaluate, operator, [K > 0, J > 0], fed=2, opset=opset, overload="Tensor")
    if opset == 18:
        replaced(PASS, FAMILY.evaluate, operator, [K, J], fed=2, opset=opset, overload="Tensor")


@pytest.mark.parametrize("operator", ["bitwise_and", "bitwise_or", "bitwise_xor"])
def test_bits_of_integers(operator: str) -> None:
    for dtype in (np.int64, np.int32, np.int8):
        pair: list[Any] = [K.astype(dtype), J.astype(dtype)]
        replaced(PASS, FAMILY.evaluate, operator, pair, fed=2, overload="Tensor", dynamic=True)
    wide = np.array([2**62 + 3, -(2**63), -5, 0])
    done = replaced(PASS, FAMILY.evaluate, operator, [wide, wide[::-1].copy()], overload="Tensor",
                    opset=18)  # fmt: skip
    assert {op for op in done.ops if op.startswith("Bitwise")}
    model, _ = called(operator, [wide.astype(np.uint64)] * 2, [wide.astype(np.uint64)])
    assert_refused(PASS, model, "x0 must be of at most 32 bits, or signed; it is uint64")


def test_complements_of_bits() -> None:
    for x in (K, K.astype(np.int32), K > 0, np.array([0, 255, 7], np.uint8)):
        replaced(PASS, FAMILY.evaluate, "bitwise_not", [x])


def test_shifts_by_constants() -> None:
    for operator in ("bitwise_left_shift", "bitwise_right_shift"):
        replaced(PASS, FAMILY.evaluate, operator, [K, np.array([0, 2, 5])], overload="Tensor")
    done = replaced(PASS, FAMILY.evaluate, "bitwise_right_shift", [K, 1], overload="Tensor_Scalar")
    assert outputs_of(done.after, {"x0": K})["y0"].tolist() == [[-4, -2, -1], [0, 2, 4]]


def test_shifts_by_numbers_that_are_computed() -> None:
    x = np.array([1, -7, 2**40 + 3, -(2**62), 5, -5, 3])
    by = np.array([62, 1, 15, 31, 64, -1, 0])
    for dtype in (np.int64, np.int32):
        for operator in ("bitwise_left_shift", "bitwise_right_shift"):
            pair: list[Any] = [x.astype(dtype), by.astype(dtype)]
            replaced(PASS, FAMILY.evaluate, operator, pair, fed=2, overload="Tensor")
    done = replaced(PASS, FAMILY.evaluate, "bitwise_right_shift", [x, by], fed=2, overload="Tensor")
    found = outputs_of(done.after, {"x0": x, "x1": by})["y0"].tolist()
    assert found == [0, -4, 2**25, -(2**31), 0, -1, 3]


@pytest.mark.parametrize("equal_nan", [0, 1])
def test_nearness(equal_nan: int) -> None:
    other = A + np.float32(1e-6)
    for relative, absolute in ((1e-5, 1e-8), (0.0, 0.0), (0.0, 1e-3)):
        arguments = [A, other, relative, absolute, equal_nan]
        replaced(PASS, FAMILY.evaluate, "isclose", arguments, fed=2)
        replaced(PASS, FAMILY.evaluate, "isclose", [K, K + 1, relative, absolute, 0], fed=2)


@pytest.mark.parametrize("dynamic", [False, True])
def test_choices(dynamic: bool) -> None:
    for other in (A + 1, J, A[:1]):
        replaced(PASS, FAMILY.evaluate, "where", [K > 0, A, other], fed=3, overload="self",
                 dynamic=dynamic)  # fmt: skip
    replaced(PASS, FAMILY.evaluate, "where", [K > 0, A, 2], fed=2, overload="ScalarOther")
    for x, value in ((A, 7.5), (K, 3), (K > 0, True)):
        replaced(PASS, FAMILY.evaluate, "masked_fill", [x, J > 0, value], fed=2, overload="Scalar")


@pytest.mark.parametrize("invert", [0, 1])
def test_membership(invert: int) -> None:
    for x, among in ((K, J), (A, B[::2]), (K, np.array([0.0, 9], np.float32))):
        replaced(PASS, FAMILY.evaluate, "isin", [x, among, 0, invert], fed=2,
                 overload="Tensor_Tensor")  # fmt: skip
    arguments = [K, 4, 0, invert]
    replaced(PASS, FAMILY.evaluate, "isin", arguments, overload="Tensor_Scalar", dynamic=True)
    model, _ = called("isin", [K, J, 0, 0], [K > 0], fed=2, overload="Tensor_Tensor", dynamic=True)
    assert_refused(PASS, model, "have known elements")


def test_in_a_branch() -> None:
    model = aten_model("isnan", [2, 3], outputs={"y": (TensorProto.BOOL, 2)})
    done = run_pass(PASS, in_branch(model))
    assert sum(len(outcome.sites) for outcome in done.outcomes) == 2
