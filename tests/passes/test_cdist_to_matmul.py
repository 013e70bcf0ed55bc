"""cdist-to-matmul: take CDist apart."""

from __future__ import annotations

import numpy as np
import pytest

from tests.passes.contrib_models import Form, assert_form, assert_form_refused, forms_of, name_of

PASS = "cdist-to-matmul"


@pytest.mark.parametrize("form", forms_of(PASS), ids=name_of)
def test_forms(form: Form) -> None:
    assert_form(PASS, form)


def test_another_metric_is_refused() -> None:
    a = np.zeros((2, 3), np.float32)
    form = Form("CDist", "", [a, a], attributes={"metric": "cosine"})
    assert_form_refused(form, "the metric euclidean; it is cosine")
