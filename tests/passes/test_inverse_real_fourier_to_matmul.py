"""inverse-real-fourier-to-matmul."""

from __future__ import annotations

import numpy as np
import pytest

from tests.passes.contrib_models import Form, assert_form, forms_of, name_of, result_of

PASS = "inverse-real-fourier-to-matmul"


@pytest.mark.parametrize("form", forms_of(PASS), ids=name_of)
def test_forms(form: Form) -> None:
    assert_form(PASS, form)


def test_a_line_is_a_wave() -> None:
    x = np.zeros((1, 5, 2), np.float32)
    x[0, 1, 0] = 4
    (given,) = result_of(PASS, Form("Irfft", "", [x], attributes={"signal_ndim": 1}))
    np.testing.assert_allclose(given[0], np.cos(2 * np.pi * np.arange(8) / 8), atol=1e-6)
