"""multimodal-rotary-to-mul: take MRotaryEmbedding and GemmaRotaryEmbedding apart."""

from __future__ import annotations

import pytest

from tests.passes.contrib_models import Form, assert_form, assert_form_refused, forms_of, name_of

PASS = "multimodal-rotary-to-mul"


@pytest.mark.parametrize("form", forms_of(PASS), ids=name_of)
def test_forms(form: Form) -> None:
    assert_form(PASS, form)


def test_interleaved_sections_are_refused() -> None:
    (form,) = forms_of(PASS)
    other = {**form.attributes, "mrope_layout": 1}
    assert_form_refused(
        Form(form.operator, "", form.inputs, attributes=other), "the sections must be chunks"
    )
