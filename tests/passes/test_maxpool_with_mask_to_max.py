"""maxpool-with-mask-to-max."""

import numpy as np

from tests.passes.contrib_models import Form, assert_form_refused, forms_test

PASS = "maxpool-with-mask-to-max"
test_forms = forms_test(PASS)


def test_what_does_not_fit_is_refused() -> None:
    x, mask = np.zeros((1, 2, 9, 9), np.float32), np.ones((1, 2, 9, 9), np.int32)
    form = Form("MaxpoolWithMask", "", [x, mask], attributes={"kernel_shape": [8, 8]})
    assert_form_refused(form, "the kernel must have at most 49 places; it has 64")
    form = Form("MaxpoolWithMask", "", [x, mask], attributes={"kernel_shape": [2]})
    assert_form_refused(form, "kernel, input and mask must fit")
    form = Form("MaxpoolWithMask", "", [x, mask], attributes={"kernel_shape": [2, 2]}, free=(2,))
    assert_form_refused(form, "of known sizes; they are not")
