"""mul-integer-to-mul: take MulInteger apart: a product of integers, which float32 holds."""

import numpy as np

from benchmarks.coverage.contrib.form import const
from tests.passes.contrib_models import Form, forms_test, result_of

PASS = "mul-integer-to-mul"
test_forms = forms_test(PASS)


def test_zero_points_come_off_first() -> None:
    inputs = [
        np.array([[0, 255]], np.uint8),
        const(np.uint8(255)),
        np.array([[255, 0]], np.uint8),
        const(np.uint8(0)),
    ]
    form = Form("MulInteger", "", inputs, [np.int32])
    assert result_of(PASS, form)[0].tolist() == [[-65025, 0]]
