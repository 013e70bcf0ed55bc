"""aten-bessel-k: K0 and K1 by polynomials, scaled and not."""

import numpy as np
import pytest

from passes.aten.aten_bessel_k import FAMILY, KINDS
from tests.passes.special_functions import Special

INF, NAN = np.inf, np.nan
# mpmath 1.3 with 40 digits.
TABLE = {
    "special_modified_bessel_k0": {
        1e-30: 69.1934843023087,
        0.01: 4.721244752507002,
        0.3: 1.3724600241140343,
        0.99: 0.4270950251407966,
        1.01: 0.4150561497288069,
        2.5: 0.06234755320036619,
        7.0: 0.0004247957418692318,
        30.0: 2.1324774964630563e-14,
        80.0: 2.5251198425054717e-36,
    },
    "special_modified_bessel_k1": {
        1e-30: 9.999999968289232e29,
        0.01: 99.97389635394225,
        0.3: 3.0559918956621184,
        0.99: 0.6122489680282943,
        1.01: 0.5917881875191074,
        2.5: 0.07389081634774707,
        7.0: 0.00045418248688489695,
        30.0: 2.1677320018915495e-14,
        80.0: 2.54085312752117e-36,
    },
    "special_scaled_modified_bessel_k0": {
        1e-30: 69.1934843023087,
        0.01: 4.768694050049063,
        0.3: 1.8526272736813407,
        0.99: 1.149412865589442,
        1.01: 1.1395785751165572,
        2.5: 0.7595486903280996,
        7.0: 0.4658450960930159,
        30.0: 0.22788666561625373,
        80.0: 0.13990735522662032,
    },
    "special_scaled_modified_bessel_k1": {
        1e-30: 9.999999968289232e29,
        0.01: 100.97865069378418,
        0.3: 4.125157625416107,
        0.99: 1.6477055441317514,
        1.01: 1.6248142328320465,
        2.5: 0.900174423907878,
        7.0: 0.49807157509547656,
        30.0: 0.2316541293777118,
        80.0: 0.14077907713800053,
    },
}
SPECIAL = Special(
    "aten-bessel-k",
    FAMILY.evaluate,
    TABLE,
    dict.fromkeys(KINDS, (NAN, NAN, INF, INF, 0, NAN)),
    rtol=6e-7,
)


@pytest.mark.parametrize("operator", KINDS)
def test_values(operator: str) -> None:
    SPECIAL.holds_to_the_table(operator)


@pytest.mark.parametrize("operator", KINDS)
def test_error(operator: str) -> None:
    x = np.concatenate([np.logspace(-37, 0, 501), np.linspace(0.9, 80, 1001)]).astype(np.float32)
    SPECIAL.holds_to_its_model(operator, x)


@pytest.mark.parametrize("operator", [name for name in KINDS if "scaled" in name])
def test_error_far_out(operator: str) -> None:
    SPECIAL.holds_to_its_model(operator, np.logspace(1, 38, 501).astype(np.float32))


@pytest.mark.parametrize("operator", KINDS)
def test_ends(operator: str) -> None:
    SPECIAL.has_the_ends_of_pytorch(operator)


@pytest.mark.parametrize("operator", KINDS)
def test_every_form(operator: str) -> None:
    SPECIAL.is_written_in_every_form(operator)


def test_refusals() -> None:
    SPECIAL.is_refused_or_left_alone("special_modified_bessel_k0")
