"""aten-normal-tail: erfcx, the normal distribution, its logarithm and its inverse."""

import numpy as np
import pytest

from passes.aten.aten_normal_tail import FAMILY
from tests.passes.special_functions import Special

INF, NAN = np.inf, np.nan
# mpmath 1.3 with 40 digits.
TABLE = {
    "special_erfcx": {
        -9.0: 3.0121946291700612e35,
        -4.5: 1245928884.2744062,
        -1.0: 5.008980080762283,
        -0.25: 1.358642370104722,
        0.0: 1.0,
        0.3: 0.7345993263705912,
        1.0: 0.427583576155807,
        3.75: 0.14558972127503855,
        6.5: 0.08580567010489461,
        11.0: 0.051080594758088446,
    },
    "special_ndtr": {
        -9.0: 1.1285884059538405e-19,
        -4.5: 3.3976731247300603e-06,
        -1.0: 0.15865525393145705,
        -0.25: 0.4012936743170763,
        0.0: 0.5,
        0.3: 0.6179114267354496,
        1.0: 0.8413447460685429,
        3.75: 0.9999115827147992,
        6.5: 0.99999999995984,
        11.0: 1.0,
    },
    "special_log_ndtr": {
        -9.0: -43.628149113332114,
        -4.5: -12.59241973571308,
        -1.0: -1.8410216450092636,
        -0.25: -0.9130617648111351,
        0.0: -0.6931471805599453,
        0.3: -0.48141015423063527,
        1.0: -0.17275377902344988,
        3.75: -8.842119423938442e-05,
        6.5: -4.016000583939759e-11,
        11.0: -1.9106595744986757e-28,
    },
    "special_ndtri": {
        1e-20: -9.262340093185976,
        0.001: -3.090232292061434,
        0.2: -0.84162122292778,
        0.499: -0.002506598627625795,
        0.5: 0.0,
        0.625: 0.31863936396437514,
        0.97: 1.8807940286306788,
        0.999999: 4.7507577546030335,
    },
}
SPECIAL = Special(
    "aten-normal-tail",
    FAMILY.evaluate,
    TABLE,
    {
        "special_erfcx": (INF, 108.94090438241957, 1, 1, 0, NAN),
        "special_ndtr": (0, 0.02275013194817921, 0.5, 0.5, 1, NAN),
        "special_log_ndtr": (-INF, -3.7831843336820317, *[-0.6931471805599453] * 2, 0, NAN),
        "special_ndtri": (NAN, NAN, -INF, -INF, NAN, NAN),
    },
    rtol=8e-7,
    half=(0.1, 0.95),
)


@pytest.mark.parametrize("operator", FAMILY.names)
def test_values(operator: str) -> None:
    SPECIAL.holds_to_the_table(operator)


@pytest.mark.parametrize(
    ("operator", "low", "high"),
    [
        ("special_erfcx", -9.3, 60),
        ("special_ndtr", -12.5, 9),
        ("special_log_ndtr", -60, 12.5),
        ("special_ndtri", 1e-4, 0.9999),
    ],
)
def test_error(operator: str, low: float, high: float) -> None:
    SPECIAL.holds_to_its_model(operator, np.linspace(low, high, 4001).astype(np.float32))


@pytest.mark.parametrize("sign", [-1, 1])
def test_error_far_out_and_close_to_zero(sign: int) -> None:
    small = (sign * np.logspace(-37, 0, 501)).astype(np.float32)
    for operator in ("special_erfcx", "special_ndtr", "special_log_ndtr"):
        SPECIAL.holds_to_its_model(operator, small)
    if sign > 0:
        SPECIAL.holds_to_its_model("special_erfcx", np.logspace(1, 37, 501).astype(np.float32))
        SPECIAL.holds_to_its_model("special_ndtri", small[:-1])
    else:
        SPECIAL.holds_to_its_model("special_log_ndtr", -np.logspace(1, 19, 501).astype(np.float32))


def test_the_inverse_around_its_zero_and_at_its_ends() -> None:
    x = 0.5 + np.logspace(-7, -1, 301) * np.where(np.arange(301) % 2, 1, -1)
    SPECIAL.holds_to_its_model("special_ndtri", x.astype(np.float32))
    y = SPECIAL.computed("special_ndtri", np.array([0, 1, -0.5, 1.5], np.float32))
    np.testing.assert_array_equal(y, np.array([-INF, INF, NAN, NAN], np.float32))


@pytest.mark.parametrize("operator", FAMILY.names)
def test_ends(operator: str) -> None:
    SPECIAL.has_the_ends_of_pytorch(operator)


@pytest.mark.parametrize("operator", ["special_erfcx", "special_ndtr", "special_log_ndtr"])
def test_every_form(operator: str) -> None:
    SPECIAL.is_written_in_every_form(operator)


def test_refusals() -> None:
    SPECIAL.is_refused_or_left_alone("special_ndtri")
