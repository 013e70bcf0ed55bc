"""bias-split-gelu-to-erf: take BiasSplitGelu and GemmFastGelu apart."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.coverage.contrib.form import const
from tests.passes.contrib_models import Form, assert_form, forms_of, name_of, result_of

PASS = "bias-split-gelu-to-erf"


@pytest.mark.parametrize("form", forms_of(PASS), ids=name_of)
def test_forms(form: Form) -> None:
    assert_form(PASS, form)


def test_the_left_half_is_gated_by_the_right() -> None:
    form = Form(
        "BiasSplitGelu", "", [np.array([[2, 4, 1, -1]], np.float32), const(np.zeros(4, np.float32))]
    )
    np.testing.assert_allclose(result_of(PASS, form)[0], [[2 * 0.841345, 4 * -0.158655]], rtol=1e-5)
