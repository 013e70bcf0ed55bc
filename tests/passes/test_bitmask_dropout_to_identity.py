"""bitmask-dropout-to-identity: take BitmaskDropout apart: nothing, where it is not trained."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.coverage.contrib.form import const
from tests.passes.contrib_models import Form, assert_form, forms_of, name_of, result_of

PASS = "bitmask-dropout-to-identity"


@pytest.mark.parametrize("form", forms_of(PASS), ids=name_of)
def test_forms(form: Form) -> None:
    assert_form(PASS, form)


def test_nothing_is_dropped() -> None:
    form = Form("BitmaskDropout", "", [np.array([[1, 2]], np.float32), const(np.float32(0.9))])
    assert result_of(PASS, form)[0].tolist() == [[1.0, 2.0]]
