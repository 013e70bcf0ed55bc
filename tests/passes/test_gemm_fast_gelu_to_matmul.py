"""gemm-fast-gelu-to-matmul: take GemmFastGelu apart: a product, a bias and Gelu by tanh."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.coverage.contrib.form import const
from tests.passes.contrib_models import Form, assert_form, forms_of, name_of, result_of

PASS = "gemm-fast-gelu-to-matmul"


@pytest.mark.parametrize("form", forms_of(PASS), ids=name_of)
def test_forms(form: Form) -> None:
    assert_form(PASS, form)


def test_the_curve_is_that_of_tanh() -> None:
    form = Form(
        "GemmFastGelu",
        "",
        [np.array([[1.0]], np.float32), const([[2.0]], np.float32), const([-1], np.float32)],
    )
    np.testing.assert_allclose(result_of(PASS, form)[0], [[0.841192]], rtol=1e-5)
