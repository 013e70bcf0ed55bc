"""q-linear-reduce-mean-to-float: take QLinearReduceMean apart: a mean, quantized."""

import numpy as np

from benchmarks.coverage.contrib.form import const
from tests.passes.contrib_models import Form, forms_test, result_of

PASS = "q-linear-reduce-mean-to-float"
test_forms = forms_test(PASS)


def test_the_mean_is_quantized_again() -> None:
    one, zero = const(np.float32(1)), const(np.uint8(10))
    inputs = [np.array([[10, 14]], np.uint8), one, zero, const(np.float32(0.5)), const(np.uint8(3))]
    form = Form("QLinearReduceMean", "", inputs, [np.uint8], {"axes": [1], "keepdims": 1})
    assert result_of(PASS, form)[0].tolist() == [[7]]
