"""skip-group-norm-to-arithmetic: take SkipGroupNorm apart: a sum, normalised by groups."""

import numpy as np

from benchmarks.coverage.contrib.form import const
from tests.passes.contrib_models import Form, forms_test, result_of

PASS = "skip-group-norm-to-arithmetic"
test_forms = forms_test(PASS)


def test_the_sum_is_returned() -> None:
    x, ones = np.array([[[[1, 2]]]], np.float32), const(np.ones(2, np.float32))
    how = {"groups": 1, "activation": 0}
    inputs = [x, ones, ones, np.array([[10, 20]], np.float32), ones]
    form = Form("SkipGroupNorm", "", inputs, [np.float32, np.float32], how)
    assert result_of(PASS, form)[1].tolist() == [[[[12.0, 23.0]]]]
