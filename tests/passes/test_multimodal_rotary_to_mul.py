"""multimodal-rotary-to-mul: take MRotaryEmbedding and GemmaRotaryEmbedding apart."""

from tests.passes.contrib_models import Form, assert_form_refused, forms_of, forms_test

PASS = "multimodal-rotary-to-mul"
test_forms = forms_test(PASS)


def test_interleaved_sections_are_refused() -> None:
    (form,) = forms_of(PASS)
    other = {**form.attributes, "mrope_layout": 1}
    assert_form_refused(
        Form(form.operator, "", form.inputs, attributes=other), "the sections must be chunks"
    )
