"""inverse-real-fourier-to-matmul."""

import numpy as np

from tests.passes.contrib_models import Form, forms_test, result_of

PASS = "inverse-real-fourier-to-matmul"
test_forms = forms_test(PASS)


def test_a_line_is_a_wave() -> None:
    x = np.zeros((1, 5, 2), np.float32)
    x[0, 1, 0] = 4
    (given,) = result_of(PASS, Form("Irfft", "", [x], attributes={"signal_ndim": 1}))
    np.testing.assert_allclose(given[0], np.cos(2 * np.pi * np.arange(8) / 8), atol=1e-6)
