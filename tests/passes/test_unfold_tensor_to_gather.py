"""unfold-tensor-to-gather: take UnfoldTensor apart."""

import numpy as np

from tests.passes.contrib_models import Form, assert_form_refused, forms_test

PASS = "unfold-tensor-to-gather"
test_forms = forms_test(PASS)


def test_a_window_that_does_not_fit_is_refused() -> None:
    form = Form("UnfoldTensor", "", [np.zeros((2, 3), np.float32)], attributes={"size": 4})
    assert_form_refused(form, "the size of axis 1 must be known and hold a window; it is 3")
