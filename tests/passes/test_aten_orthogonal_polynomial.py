"""aten-orthogonal-polynomial: polynomials of Chebyshev, Hermite, Laguerre and Legendre."""

from typing import Any

import numpy as np
import pytest

from graphfix.report import APPROXIMATE
from graphfix.testing import outputs_of, run_pass
from passes.aten.aten_orthogonal_polynomial import FAMILY
from tests.passes.aten_models import aten_model, called, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-orthogonal-polynomial"
X = np.array([-1.2, -1, -0.5, 0, 0.3, 1, 1.7], np.float32)
# torch.special of PyTorch 2.13 at X, of degrees 3 and 10
THIRD = {
    "chebyshev_polynomial_t": [-3.312, -1, 1, 0, -0.792, 1, 14.552],
    "chebyshev_polynomial_u": [-9.024, -4, 1, 0, -0.984, 4, 32.504],
    "chebyshev_polynomial_v": [-13.784, -7, 1, 1, -0.344, 1, 21.944],
    "chebyshev_polynomial_w": [-4.264, -1, 1, -1, -1.624, 7, 43.064],
    "shifted_chebyshev_polynomial_t": [-147.016, -99, -26, -1, 0.944, 1, 48.096],
    "shifted_chebyshev_polynomial_u": [-300.832, -204, -56, -4, 1.088, 4, 100.992],
    "shifted_chebyshev_polynomial_v": [-346.072, -239, -71, -7, 1.448, 1, 78.952],
    "shifted_chebyshev_polynomial_w": [-255.592, -169, -41, -1, 0.728, 7, 123.032],
    "hermite_polynomial_h": [0.576, 4, 5, 0, -3.384, -4, 18.904],
    "hermite_polynomial_he": [1.872, 2, 1.375, 0, -0.873, -2, -0.187],
    "laguerre_polynomial_l": [7.048, 5.6667, 2.8958, 1, 0.2305, -0.6667, -0.5838],
    "legendre_polynomial_p": [-2.52, -1, 0.4375, 0, -0.3825, 1, 9.7325],
}
NAMES = [f"special_{name}" for name in THIRD]


@pytest.mark.parametrize("name", THIRD)
def test_the_third_degree_is_that_of_pytorch(name: str) -> None:
    how: dict[str, Any] = {"accuracy": APPROXIMATE, "rtol": 1e-5, "atol": 1e-5}
    done = replaced(PASS, FAMILY.evaluate, f"special_{name}", [X, 3], **how)
    given = outputs_of(done.after, {"x0": X})["y0"]
    np.testing.assert_allclose(given, THIRD[name], rtol=1e-4, atol=1e-4)
    assert "Loop" not in done.ops


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_degrees_that_are_computed(name: str, dynamic: bool) -> None:
    degrees = np.array([[-2], [0], [1], [2], [12]])
    for n in (degrees, degrees.astype(np.float32) + np.float32(0.5)):
        done = replaced(PASS, FAMILY.evaluate, name, [X, n], fed=2, accuracy=APPROXIMATE, rtol=1e-4,
                        atol=2e-4, dynamic=dynamic)  # fmt: skip
        assert done.ops.count("Loop") == 1


def test_no_degree_beyond_one_takes_no_step() -> None:
    n = np.array([1, 0, -1, 1, 0, 0, 1])
    for name in NAMES:
        replaced(PASS, FAMILY.evaluate, name, [X, n], fed=2, accuracy=APPROXIMATE, rtol=1e-6)


def test_integers_and_halves() -> None:
    k = np.array([-3, 0, 2, 4])
    replaced(PASS, FAMILY.evaluate, NAMES[0], [k, 4], accuracy=APPROXIMATE, rtol=1e-6)
    half = X.astype(np.float16)
    done = run_pass(PASS, called(NAMES[0], [half, 4], [half])[0])
    assert outputs_of(done.after, {"x0": half})["y0"].dtype == np.float16


def test_in_a_branch() -> None:
    done = run_pass(PASS, in_branch(aten_model(NAMES[0], [4], [np.array(2)])))
    assert sum(len(outcome.sites) for outcome in done.outcomes) == 2
