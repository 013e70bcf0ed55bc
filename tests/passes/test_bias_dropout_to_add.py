"""bias-dropout-to-add: take BiasDropout apart: a sum, where nothing is trained."""

import numpy as np

from benchmarks.coverage.contrib.form import const
from tests.passes.contrib_models import Form, assert_form_refused, forms_test

PASS = "bias-dropout-to-add"
test_forms = forms_test(PASS)


def test_a_training_mode_that_comes_late_is_refused() -> None:
    x = np.ones((2, 3), np.float32)
    form = Form("BiasDropout", "", [x, const(x[0]), None, None, np.array(False)])
    assert_form_refused(form, "the training mode must be a constant; it is computed at run time")
