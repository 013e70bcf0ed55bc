"""group-norm-to-arithmetic: take GroupNorm and SkipGroupNorm apart."""

import numpy as np

from benchmarks.coverage.contrib.form import const
from tests.passes.contrib_models import Form, assert_form_refused, forms_test, result_of

PASS = "group-norm-to-arithmetic"
test_forms = forms_test(PASS)


def test_each_group_has_a_mean_of_its_own() -> None:
    x = np.array([[[[1, 3, 10, 30]]]], np.float32)
    ones, zeros = const(np.ones(4, np.float32)), const(np.zeros(4, np.float32))
    how = {"groups": 2, "activation": 0, "epsilon": 0.0}
    (given,) = result_of(PASS, Form("GroupNorm", "", [x, ones, zeros], attributes=how))
    np.testing.assert_allclose(given, [[[[-1, 1, -1, 1]]]], rtol=1e-6)


def test_groups_that_do_not_divide_the_channels_are_refused() -> None:
    x, ones = np.zeros((1, 2, 2, 4), np.float32), const(np.ones(4, np.float32))
    form = Form("GroupNorm", "", [x, ones, ones], attributes={"groups": 3, "activation": 0})
    assert_form_refused(form, "the channels of x0 must be a multiple of 3 groups; they are 4")
