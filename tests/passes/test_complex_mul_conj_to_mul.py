"""complex-mul-conj-to-mul."""

from __future__ import annotations

import numpy as np
import pytest

from tests.passes.contrib_models import Form, assert_form, forms_of, name_of, result_of

PASS = "complex-mul-conj-to-mul"


@pytest.mark.parametrize("form", forms_of(PASS), ids=name_of)
def test_forms(form: Form) -> None:
    assert_form(PASS, form)


def test_the_product_with_a_conjugate() -> None:
    form = Form(
        "ComplexMulConj", "", [np.array([[1, 2]], np.float32), np.array([[3, 4]], np.float32)]
    )
    assert result_of(PASS, form)[0].tolist() == [[11.0, 2.0]]
