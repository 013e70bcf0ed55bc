"""torch-embedding-to-gather."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.coverage.contrib.form import const
from tests.passes.contrib_models import Form, assert_form, forms_of, name_of, result_of

PASS = "torch-embedding-to-gather"


@pytest.mark.parametrize("form", forms_of(PASS), ids=name_of)
def test_forms(form: Form) -> None:
    assert_form(PASS, form)


def test_rows_are_looked_up() -> None:
    form = Form("TorchEmbedding", "", [const([[1], [2], [3]], np.float32), np.array([2, 0])])
    assert result_of(PASS, form)[0].tolist() == [[3.0], [1.0]]
