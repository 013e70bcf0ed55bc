"""nbits-mlp-to-matmul."""

import numpy as np

from benchmarks.coverage.contrib.form import const
from tests.passes.contrib_models import Form, assert_form_refused, forms_test

PASS = "nbits-mlp-to-matmul"
test_forms = forms_test(PASS)


def test_another_activation_is_refused() -> None:
    how = {"K": 16, "N": 1, "bits": 4, "block_size": 16, "activation": "gelu"}
    data = [const(np.full((1, 1, 8), 0x99, np.uint8)), const([[1]], np.float32), None]
    x = np.ones((1, 1, 16), np.float32)
    form = Form("MatMulNBitsMlp", "", [x, None, None, *data, *data], attributes=how)
    assert_form_refused(form, "the activation must be silu; it is gelu")
