"""aten-arithmetic: arithmetic in the type that PyTorch computes in."""

from typing import Any

import numpy as np
import pytest

from graphfix.authoring import Refuse
from graphfix.report import APPROXIMATE
from graphfix.testing import assert_refused, outputs_of, run_pass
from passes.aten.aten_arithmetic import FAMILY
from tests.passes.aten_models import aten_model, called, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-arithmetic"
A = np.array([[-2.5, -1, -0.5], [0, 1.5, 3]], np.float32)
B = np.array([2, -0.75, 0.5], np.float32)
K = np.array([[-7, -3, -1], [0, 4, 9]], np.int64)
J = np.array([2, -3, 5], np.int64)
BINARY: list[tuple[str, str, list[Any]]] = [
    ("add", "Tensor", [3]), ("sub", "Tensor", [2]), ("rsub", "Tensor", [2]), ("mul", "Tensor", []),
    ("div", "Tensor", []), ("true_divide", "Tensor", []), ("floor_divide", "", []),
    ("remainder", "Tensor", []), ("fmod", "Tensor", []), ("ldexp", "Tensor", []),
]  # fmt: skip
UNARY = ["square", "neg", "abs", "sign", "sgn", "ceil", "floor", "round", "positive"]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize(("operator", "overload", "further"), BINARY)
def test_two_operands_of_one_type(
    operator: str, overload: str, further: list[Any], dynamic: bool
) -> None:
    for pair in ([A, B], [K, J]):
        how: dict[str, Any] = {"fed": 2, "overload": overload, "dynamic": dynamic}
        replaced(PASS, FAMILY.evaluate, operator, [*pair, *further], rtol=1e-6, **how)


@pytest.mark.parametrize("operator", UNARY)
def test_one_operand(operator: str) -> None:
    for x in (A, K, A.astype(np.float16), A.astype(np.float64)):
        replaced(PASS, FAMILY.evaluate, operator, [x])


@pytest.mark.parametrize("mode", [None, "trunc", "floor"])
def test_modes_of_rounding(mode: str | None) -> None:
    text = None if mode is None else np.array(mode, object)
    pairs: list[list[Any]] = [[A, B], [K, J], [A, np.float64(0.1)]]
    for pair in pairs:
        how: dict[str, Any] = {"overload": "Tensor_mode", "fed": 1 if np.ndim(pair[1]) == 0 else 2}
        if mode is None:
            replaced(PASS, FAMILY.evaluate, "div", pair, rtol=1e-6, fed=how["fed"])
        else:
            replaced(PASS, FAMILY.evaluate, "div", [*pair, text], rtol=1e-6, **how)


def test_three_operands() -> None:
    for value in (1, 0.5):
        for operator in ("addcmul", "addcdiv"):
            replaced(PASS, FAMILY.evaluate, operator, [A, A + 4, B, value], fed=3, rtol=1e-6)
    weight = np.array([0.25, 0.5, 1.5], np.float32)
    replaced(PASS, FAMILY.evaluate, "lerp", [A, B, weight], fed=3, overload="Tensor", rtol=1e-6)


def test_powers_and_places() -> None:
    replaced(
        PASS, FAMILY.evaluate, "pow", [np.abs(A), B], fed=2, overload="Tensor_Tensor", rtol=1e-6
    )
    replaced(PASS, FAMILY.evaluate, "pow", [K, 3], overload="Tensor_Scalar")
    for places in (2, 0, -1):
        replaced(PASS, FAMILY.evaluate, "round", [A * 31, places], overload="decimals", rtol=1e-6)
    model, _ = called("pow", [K, J], [K], fed=2, overload="Tensor_Tensor")
    assert_refused(PASS, model, "must be constants that are not negative")


@pytest.mark.parametrize("operator", ["atan2", "erfc", "special_xlog1py", "logaddexp2"])
def test_what_is_near(operator: str) -> None:
    x = np.array([-3, -1e-3, 0, 1e-3, 0.4, 2, 40], np.float32)
    y = np.array([1, 0, 2, -1, -0.3, 1e-5, 3], np.float32)
    inputs = [x] if operator == "erfc" else [y, x] if operator == "atan2" else [x, np.abs(y)]
    for cast in (np.float32, np.float16):
        given = [v.astype(cast) for v in inputs]
        loose = 2e-6 if cast is np.float32 else 2e-3
        replaced(PASS, FAMILY.evaluate, operator, given, fed=len(given), rtol=loose, atol=loose,
                 accuracy=APPROXIMATE)  # fmt: skip


def test_in_a_branch() -> None:
    model = in_branch(aten_model("add", [2, 3], [B, np.array(2)], overload="Tensor"))
    done = run_pass(PASS, model)
    assert sum(len(outcome.sites) for outcome in done.outcomes) == 2


def test_refusals() -> None:
    model, _ = called("lerp", [K, K, K], [K], fed=3, overload="Tensor")
    assert_refused(PASS, model, "must be of another type; it is int64")
    model, _ = called("add", [K, np.float32(2).reshape(()), 1], [A], fed=2, overload="Tensor")
    done = run_pass(PASS, model)  # a float32 without axes is a tensor for sure
    assert (
        outputs_of(done.after, {"x0": K, "x1": np.array(2, np.float32)})["y0"].dtype == np.float32
    )
    model, _ = called("add", [K, np.float64(2), 1], [A], fed=2, overload="Tensor")
    assert_refused(PASS, model, "must be a constant number or of the type of the others")


@pytest.mark.parametrize("operator", ["remainder", "fmod"])
def test_no_model_divides_integers_by_0(operator: str) -> None:
    call = {"operator": operator, "overload_name": "Tensor"}
    with pytest.raises(Refuse, match="integers must not be divided by 0; one is"):
        FAMILY.evaluate([np.array([3]), np.array([0])], call)
