"""reduce-sum-integer-to-sum: take ReduceSumInteger apart: a sum of int32, see the module."""

import numpy as np

from tests.passes.contrib_models import Form, forms_test, result_of

PASS = "reduce-sum-integer-to-sum"
test_forms = forms_test(PASS)


def test_the_sum_has_32_bits() -> None:
    how = {"axes": [1], "keepdims": 0}
    form = Form("ReduceSumInteger", "", [np.full((1, 1000), -128, np.int8)], [np.int32], how)
    assert result_of(PASS, form)[0].tolist() == [-128000]
