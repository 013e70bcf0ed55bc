"""swiglu-to-mul: take SwiGLU apart: x sigmoid (alpha x), limited, times the other half."""

import numpy as np

from tests.passes.contrib_models import Form, assert_form_refused, forms_test, result_of

PASS = "swiglu-to-mul"
test_forms = forms_test(PASS)


def test_both_halves_are_limited() -> None:
    how = {"limit": 1.0, "activation_alpha": 2.0, "activation_beta": 1.0}
    form = Form(
        "SwiGLU", "", [np.array([[5]], np.float32), np.array([[-9]], np.float32)], attributes=how
    )
    np.testing.assert_allclose(result_of(PASS, form)[0], [[0.0]], atol=1e-7)
    form = Form(
        "SwiGLU", "", [np.array([[5]], np.float32), np.array([[9]], np.float32)], attributes=how
    )
    np.testing.assert_allclose(result_of(PASS, form)[0], [[2 * 0.880797]], rtol=1e-5)


def test_halves_that_come_in_one_are_refused() -> None:
    form = Form("SwiGLU", "", [np.zeros((2, 4), np.float32)])
    assert_form_refused(form, "both halves must be given")
