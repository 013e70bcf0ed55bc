"""crop-and-resize-to-matmul: take CropAndResize apart."""

import numpy as np

from tests.passes.contrib_models import Form, assert_form_refused, forms_of, forms_test

PASS = "crop-and-resize-to-matmul"
test_forms = forms_test(PASS)


def test_a_size_that_comes_late_is_refused() -> None:
    form = forms_of(PASS)[0]
    inputs = [*form.inputs[:3], np.array([3, 4], np.int32)]
    assert_form_refused(Form(form.operator, "", inputs), "the size of a crop must be a constant")
