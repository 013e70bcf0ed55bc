"""aten-bessel-j: J0, J1, Y0, Y1 and the spherical j0 by polynomials."""

import numpy as np
import pytest

from passes.aten.aten_bessel_j import FAMILY, KINDS
from tests.passes.special_functions import Special

INF, NAN = np.inf, np.nan
# mpmath 1.3 with 40 digits.
TABLE = {
    "special_bessel_j0": {
        0.01: 0.9999750001573672,
        0.7: 0.8812008925293401,
        1.9: 0.28181857323024984,
        2.4: 0.0025076336885117836,
        3.8: -0.40255640956721067,
        5.5: -0.006843869417819197,
        7.0: 0.3000792705195556,
        8.6: 0.01462288723102647,
        12.0: 0.047689310796833535,
        25.5: 0.14406215754684787,
        150.25: 0.0153537162170678,
        4096.5: 0.007529941857097062,
    },
    "special_bessel_j1": {
        0.01: 0.004999937388505898,
        0.7: 0.32899573663808984,
        1.9: 0.5811570732869161,
        2.4: 0.5201852477507753,
        3.8: 0.012821022282999583,
        5.5: -0.34143821542904335,
        7.0: -0.004682823482345833,
        8.6: 0.27275483802551803,
        12.0: -0.2234471044906276,
        25.5: -0.062048536491484105,
        150.25: -0.06320516548653986,
        4096.5: -0.00993415791107289,
    },
    "special_bessel_y0": {
        0.01: -3.0054556513169217,
        0.7: -0.1906649424891585,
        1.9: 0.49681996736408096,
        2.4: 0.5104147390823697,
        3.8: 0.06450326640152047,
        5.5: -0.339480592881911,
        7.0: -0.025949743967209265,
        8.6: 0.2714577119245086,
        12.0: -0.22523731263436145,
        25.5: -0.06485976549878349,
        150.25: -0.06325590858936574,
        4096.5: -0.009935076907219603,
    },
    "special_bessel_y1": {
        0.01: -63.67859770471646,
        0.7: -1.1032498884229638,
        1.9: -0.16440578623972704,
        2.4: 0.10048898301495521,
        3.8: 0.41411469142848367,
        5.5: -0.023758238956389618,
        7.0: -0.30266723702418485,
        8.6: 0.0010840953350048244,
        12.0: -0.05709921826089652,
        25.5: -0.1453610587230494,
        150.25: -0.01556430108683393,
        4096.5: -0.007531154543084399,
    },
    "special_spherical_bessel_j0": {
        0.01: 0.9999833334174115,
        0.7: 0.9203109844157479,
        1.9: 0.49805268803670505,
        2.4: 0.28144295141137987,
        3.8: -0.16101522655374817,
        5.5: -0.1282800591946167,
        7.0: 0.09385522838839844,
        8.6: 0.08539497748689653,
        12.0: -0.04471440983336958,
        25.5: 0.014080719765575227,
        150.25: -0.003458603890989584,
        4096.5: -3.329520468439486e-05,
    },
}
SPECIAL = Special(
    "aten-bessel-j",
    FAMILY.evaluate,
    TABLE,
    {
        "special_bessel_j0": (NAN, 0.22389077914123567, 1, 1, NAN, NAN),
        "special_bessel_j1": (NAN, -0.5767248077568734, 0, 0, NAN, NAN),
        "special_bessel_y0": (NAN, NAN, -INF, -INF, NAN, NAN),
        "special_bessel_y1": (NAN, NAN, -INF, -INF, NAN, NAN),
        "special_spherical_bessel_j0": (0, 0.45464871341284085, 1, 1, 0, NAN),
    },
    rtol=6e-7,
    atol=1e-8,
)


@pytest.mark.parametrize("operator", FAMILY.names)
def test_values(operator: str) -> None:
    SPECIAL.holds_to_the_table(operator)


@pytest.mark.parametrize("operator", KINDS)
def test_the_error_up_to_the_last_zero_is_of_the_value(operator: str) -> None:
    kind = KINDS[operator]
    x = np.linspace(0.55 if kind.second else 1e-3, kind.end - 1e-3, 4001).astype(np.float32)
    SPECIAL.holds_to_its_model(operator, x)


@pytest.mark.parametrize("operator", KINDS)
def test_the_error_far_out_is_of_the_amplitude(operator: str) -> None:
    x = np.logspace(0.85, 6, 4001).astype(np.float32)
    wanted = FAMILY.evaluate([x.astype(np.float64)], {"operator": operator})[0]
    away = np.abs(SPECIAL.computed(operator, x) - wanted)
    assert float(np.max(away * np.sqrt(np.pi * x / 2))) <= 4e-7


@pytest.mark.parametrize("operator", ["special_bessel_j1", "special_bessel_y0"])
def test_small_numbers(operator: str) -> None:
    x = np.logspace(-37, -1, 501).astype(np.float32)
    SPECIAL.holds_to_its_model(operator, x)


@pytest.mark.parametrize("operator", FAMILY.names)
def test_ends(operator: str) -> None:
    SPECIAL.has_the_ends_of_pytorch(operator)


@pytest.mark.parametrize("operator", FAMILY.names)
def test_every_form(operator: str) -> None:
    SPECIAL.is_written_in_every_form(operator)


def test_refusals() -> None:
    SPECIAL.is_refused_or_left_alone("special_bessel_j0")
