"""dynamic-quantize-matmul-to-matmul: take DynamicQuantizeMatMul apart."""

from __future__ import annotations

import pytest

from tests.passes.contrib_models import Form, assert_form, forms_of, name_of

PASS = "dynamic-quantize-matmul-to-matmul"


@pytest.mark.parametrize("form", forms_of(PASS), ids=name_of)
def test_forms(form: Form) -> None:
    assert_form(PASS, form)
