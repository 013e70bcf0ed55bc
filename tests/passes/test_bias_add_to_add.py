"""bias-add-to-add: take BiasAdd and the dropouts of onnxruntime's training apart."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.coverage.contrib.form import const
from tests.passes.contrib_models import Form, assert_form, forms_of, name_of, result_of

PASS = "bias-add-to-add"


@pytest.mark.parametrize("form", forms_of(PASS), ids=name_of)
def test_forms(form: Form) -> None:
    assert_form(PASS, form)


def test_all_three_are_added() -> None:
    form = Form(
        "BiasAdd",
        "",
        [
            np.array([[1, 2]], np.float32),
            const([10, 20], np.float32),
            np.array([[5, 7]], np.float32),
        ],
    )
    assert result_of(PASS, form)[0].tolist() == [[16.0, 29.0]]
