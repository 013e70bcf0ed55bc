"""is-all-finite-to-equal: take IsAllFinite apart."""

import numpy as np
import pytest

from tests.passes.contrib_models import Form, forms_test, result_of

PASS = "is-all-finite-to-equal"
test_forms = forms_test(PASS)


@pytest.mark.parametrize(
    ("number", "attribute", "wanted"),
    [
        (np.inf, "", False), (np.nan, "", False), (1.0, "", True),
        (np.inf, "isnan_only", True), (np.nan, "isnan_only", False),
        (-np.inf, "isinf_only", False), (np.nan, "isinf_only", True),
    ],
)  # fmt: skip
def test_which_numbers_count(number: float, attribute: str, wanted: bool) -> None:
    how = {attribute: 1} if attribute else {}
    form = Form("IsAllFinite", "", [np.array([[0, number]], np.float32)], [np.bool_], how)
    assert bool(result_of(PASS, form)[0]) is wanted
