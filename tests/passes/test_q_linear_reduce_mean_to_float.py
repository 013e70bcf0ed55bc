"""q-linear-reduce-mean-to-float: take QLinearReduceMean apart: a mean, quantized."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.coverage.contrib.form import const
from tests.passes.contrib_models import Form, assert_form, forms_of, name_of, result_of

PASS = "q-linear-reduce-mean-to-float"


@pytest.mark.parametrize("form", forms_of(PASS), ids=name_of)
def test_forms(form: Form) -> None:
    assert_form(PASS, form)


def test_the_mean_is_quantized_again() -> None:
    one, zero = const(np.float32(1)), const(np.uint8(10))
    inputs = [np.array([[10, 14]], np.uint8), one, zero, const(np.float32(0.5)), const(np.uint8(3))]
    form = Form("QLinearReduceMean", "", inputs, [np.uint8], {"axes": [1], "keepdims": 1})
    assert result_of(PASS, form)[0].tolist() == [[7]]
