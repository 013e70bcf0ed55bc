"""moe-to-matmul: take MoE and QMoE apart."""

from tests.passes.contrib_models import Form, assert_form_refused, forms_of, forms_test

PASS = "moe-to-matmul"
test_forms = forms_test(PASS)


def test_a_third_product_is_refused() -> None:
    form = next(form for form in forms_of(PASS) if form.name == "relu")
    inputs = [*form.inputs, None, form.inputs[2]]
    reason = "there must be two products for each expert; there are three"
    assert_form_refused(Form(form.operator, "", inputs, attributes=form.attributes), reason)
