"""cdist-to-matmul: take CDist apart."""

import numpy as np

from tests.passes.contrib_models import Form, assert_form_refused, forms_test

PASS = "cdist-to-matmul"
test_forms = forms_test(PASS)


def test_another_metric_is_refused() -> None:
    a = np.zeros((2, 3), np.float32)
    form = Form("CDist", "", [a, a], attributes={"metric": "cosine"})
    assert_form_refused(form, "the metric euclidean; it is cosine")
