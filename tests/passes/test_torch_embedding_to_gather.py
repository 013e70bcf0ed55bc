"""torch-embedding-to-gather."""

import numpy as np

from benchmarks.coverage.contrib.form import const
from tests.passes.contrib_models import Form, forms_test, result_of

PASS = "torch-embedding-to-gather"
test_forms = forms_test(PASS)


def test_rows_are_looked_up() -> None:
    form = Form("TorchEmbedding", "", [const([[1], [2], [3]], np.float32), np.array([2, 0])])
    assert result_of(PASS, form)[0].tolist() == [[3.0], [1.0]]
