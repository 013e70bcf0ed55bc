"""gated-relative-position-bias-to-mul."""

import numpy as np

from tests.passes.contrib_models import Form, assert_form_refused, forms_of, forms_test

PASS = "gated-relative-position-bias-to-mul"
test_forms = forms_test(PASS)


def test_packed_tokens_are_refused() -> None:
    form = next(form for form in forms_of(PASS) if form.name == "plain")
    packed = Form(
        form.operator, "", [*form.inputs, np.zeros((2, 5), np.int32)], attributes=form.attributes
    )
    assert_form_refused(packed, "tokens must not be packed; they are")
