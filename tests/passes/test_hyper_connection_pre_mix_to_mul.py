"""hyper-connection-pre-mix-to-mul."""

import numpy as np

from tests.passes.contrib_models import Form, assert_form_refused, forms_test

PASS = "hyper-connection-pre-mix-to-mul"
test_forms = forms_test(PASS)


def test_streams_that_do_not_fit_are_refused() -> None:
    inputs = [np.zeros((2, 3, 9), np.float32), np.zeros((2, 3, 4), np.float32)]
    form = Form("HyperConnectionPreMix", "", inputs, attributes={"num_branches": 4})
    assert_form_refused(form, "the last size of x0 must be a multiple of 4; it is 9")
    grouped = [np.zeros((2, 4, 8), np.float32), np.zeros(4, np.float32)]
    form = Form("HyperConnectionPreMix", "", grouped)
    assert_form_refused(form, "x1 must have 2 or 3 dimensions")
