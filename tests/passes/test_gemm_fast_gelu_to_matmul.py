"""gemm-fast-gelu-to-matmul: take GemmFastGelu apart: a product, a bias and Gelu by tanh."""

import numpy as np

from benchmarks.coverage.contrib.form import const
from tests.passes.contrib_models import Form, forms_test, result_of

PASS = "gemm-fast-gelu-to-matmul"
test_forms = forms_test(PASS)


def test_the_curve_is_that_of_tanh() -> None:
    form = Form(
        "GemmFastGelu",
        "",
        [np.array([[1.0]], np.float32), const([[2.0]], np.float32), const([-1], np.float32)],
    )
    np.testing.assert_allclose(result_of(PASS, form)[0], [[0.841192]], rtol=1e-5)
