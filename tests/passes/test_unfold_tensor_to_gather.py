"""unfold-tensor-to-gather: take UnfoldTensor apart."""

from __future__ import annotations

import numpy as np
import pytest

from tests.passes.contrib_models import Form, assert_form, assert_form_refused, forms_of, name_of

PASS = "unfold-tensor-to-gather"


@pytest.mark.parametrize("form", forms_of(PASS), ids=name_of)
def test_forms(form: Form) -> None:
    assert_form(PASS, form)


def test_a_window_that_does_not_fit_is_refused() -> None:
    form = Form("UnfoldTensor", "", [np.zeros((2, 3), np.float32)], attributes={"size": 4})
    assert_form_refused(form, "the size of axis 1 must be known and hold a window; it is 3")
