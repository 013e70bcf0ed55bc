"""gated-relative-position-bias-to-mul."""

from __future__ import annotations

import numpy as np
import pytest

from tests.passes.contrib_models import Form, assert_form, assert_form_refused, forms_of, name_of

PASS = "gated-relative-position-bias-to-mul"


@pytest.mark.parametrize("form", forms_of(PASS), ids=name_of)
def test_forms(form: Form) -> None:
    assert_form(PASS, form)


def test_packed_tokens_are_refused() -> None:
    form = next(form for form in forms_of(PASS) if form.name == "plain")
    packed = Form(
        form.operator, "", [*form.inputs, np.zeros((2, 5), np.int32)], attributes=form.attributes
    )
    assert_form_refused(packed, "tokens must not be packed; they are")
