"""moe-to-matmul: take MoE and QMoE apart."""

from __future__ import annotations

import pytest

from tests.passes.contrib_models import Form, assert_form, assert_form_refused, forms_of, name_of

PASS = "moe-to-matmul"


@pytest.mark.parametrize("form", forms_of(PASS), ids=name_of)
def test_forms(form: Form) -> None:
    assert_form(PASS, form)


def test_a_third_product_is_refused() -> None:
    form = next(form for form in forms_of(PASS) if form.name == "relu")
    inputs = [*form.inputs, None, form.inputs[2]]
    reason = "there must be two products for each expert; there are three"
    assert_form_refused(Form(form.operator, "", inputs, attributes=form.attributes), reason)
