"""real-fourier-to-matmul: take Rfft and Irfft apart."""

import numpy as np

from tests.passes.contrib_models import Form, assert_form_refused, forms_test, result_of

PASS = "real-fourier-to-matmul"
test_forms = forms_test(PASS)


def test_a_wave_has_one_line() -> None:
    x = np.cos(2 * np.pi * np.arange(8) / 8).astype(np.float32)[None]
    (given,) = result_of(PASS, Form("Rfft", "", [x], attributes={"signal_ndim": 1}))
    np.testing.assert_allclose(given[0], [[0, 0], [4, 0], [0, 0], [0, 0], [0, 0]], atol=1e-5)


def test_three_axes_are_refused() -> None:
    x = np.zeros((2, 2, 2), np.float32)
    form = Form("Rfft", "", [x], attributes={"signal_ndim": 3})
    assert_form_refused(form, "the signal must have one or two axes of a known rank; it has 3")
