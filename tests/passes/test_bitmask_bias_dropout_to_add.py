"""bitmask-bias-dropout-to-add: take BitmaskBiasDropout apart: a sum, where nothing is trained."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.coverage.contrib.form import const
from tests.passes.contrib_models import Form, assert_form, forms_of, name_of, result_of

PASS = "bitmask-bias-dropout-to-add"


@pytest.mark.parametrize("form", forms_of(PASS), ids=name_of)
def test_forms(form: Form) -> None:
    assert_form(PASS, form)


def test_nothing_is_dropped() -> None:
    form = Form(
        "BitmaskBiasDropout", "", [np.array([[1, 2]], np.float32), const([3, 4], np.float32)]
    )
    assert result_of(PASS, form)[0].tolist() == [[4.0, 6.0]]
