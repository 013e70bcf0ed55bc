"""aten-activation: activations at their bends, at infinities and in every type."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import outputs_of
from passes.aten.aten_activation import FAMILY
from tests.passes.aten_models import replaced

PASS = "aten-activation"
X = np.array([-30, -3, -1.5, -0.5, -1e-6, 0, 1e-6, 0.5, 1, 2.9, 6, 30], np.float32)
SPECIAL = np.array([np.inf, -np.inf, np.nan], np.float32)
CALLS: list[tuple[str, list[Any]]] = [
    ("celu", [1.5]), ("celu", [-0.5]), ("elu", [1.5, 2, 0.5]), ("selu", []), ("softplus", [2, 20]),
    ("gelu", [None]), ("hardshrink", [0.5]), ("softshrink", [0.5]), ("threshold", [0.5, 7]),
    ("hardtanh", [-1, 2]), ("relu6", []), ("leaky_relu", [0.2]), ("hardsigmoid", []),
    ("hardswish", []), ("log_sigmoid", []), ("mish", []), ("exp2", []), ("exp", []),
    ("sin", []), ("cos", []), ("tan", []), ("atan", []), ("tanh", []), ("erf", []), ("sigmoid", []),
]  # fmt: skip
WITHIN: list[tuple[str, list[Any]]] = [
    ("logit", [None]), ("logit", [0.1]), ("log", []), ("log2", []), ("log10", []), ("log1p", []),
    ("sqrt", []), ("rsqrt", []), ("reciprocal", []), ("acos", []), ("asin", []), ("silu", []),
]  # fmt: skip


@pytest.mark.parametrize(("operator", "arguments"), CALLS)
def test_activations_keep_their_digits_near_nothing(operator: str, arguments: list[Any]) -> None:
    done = replaced(PASS, FAMILY.evaluate, operator, [X, *arguments], rtol=2e-6, atol=1e-12)
    assert "ATen" not in done.ops


@pytest.mark.parametrize(("operator", "arguments"), WITHIN)
def test_functions_where_they_are_defined(operator: str, arguments: list[Any]) -> None:
    x = np.array([1e-7, 1e-3, 0.2, 0.5, 0.9, 0.999], np.float32)
    replaced(PASS, FAMILY.evaluate, operator, [x, *arguments], rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize(
    "operator", ["elu", "leaky_relu", "log1p", "hardshrink", "threshold", "softshrink", "softplus"]
)
def test_infinities_and_what_is_no_number(operator: str) -> None:
    arguments: dict[str, list[Any]] = {
        "elu": [1, 1, 1],
        "threshold": [0, 5],
        "leaky_relu": [0.1],
        "log1p": [],
    }
    given = arguments.get(operator, [2, 20] if operator == "softplus" else [0.5])
    replaced(PASS, FAMILY.evaluate, operator, [SPECIAL, *given], rtol=1e-6)


@pytest.mark.parametrize("kind", [np.float64, np.float16, np.int64, np.int8, np.bool_])
def test_other_types(kind: Any) -> None:
    x = np.array([0, 1, 2, 1], kind)
    close = 1e-3 if kind == np.float16 else 1e-6
    for operator in ("sigmoid", "exp", "sqrt"):
        replaced(PASS, FAMILY.evaluate, operator, [x], rtol=close)


def test_integers_stay_integers() -> None:
    x = np.array([-(2**62), -7, -1, 0, 3, 6, 9, 2**62 + 1])
    for kind in (np.int64, np.int32):
        for operator, arguments in (
            ("hardtanh", [-2.9, 5.9]),
            ("relu6", []),
            ("threshold", [3, 20]),
        ):
            replaced(PASS, FAMILY.evaluate, operator, [x.astype(kind), *arguments])
    done = replaced(PASS, FAMILY.evaluate, "hardtanh", [x, -2.9, 5.9])
    assert outputs_of(done.after, {"x0": x})["y0"].tolist() == [-2, -2, -1, 0, 3, 5, 5, 5]
