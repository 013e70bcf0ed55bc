"""svm-regressor-to-matmul: every kernel."""

import pytest

from graphfix.testing import assert_rewrite
from tests.passes.ml_models import model_of, rows

PASS = "svm-regressor-to-matmul"


@pytest.mark.parametrize("kernel", ["LINEAR", "POLY", "RBF", "SIGMOID"])
@pytest.mark.parametrize("one_class", [0, 1])
def test_kernels(kernel: str, one_class: int) -> None:
    model = model_of(
        "SVMRegressor",
        ["N", 3],
        kernel_type=kernel,
        kernel_params=[0.5, 0.25, 2.0],
        n_supports=2,
        support_vectors=[0.5, -1.0, 2.0, 1.5, 0.25, -0.5],
        coefficients=[1.0, -0.75],
        rho=[0.125],
        one_class=one_class,
    )
    assert_rewrite(PASS, model, feeds=[{"x": rows()}], rtol=1e-5, atol=1e-5)
