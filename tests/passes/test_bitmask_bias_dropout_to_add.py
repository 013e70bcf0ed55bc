"""bitmask-bias-dropout-to-add: take BitmaskBiasDropout apart: a sum, where nothing is trained."""

import numpy as np

from benchmarks.coverage.contrib.form import const
from tests.passes.contrib_models import Form, forms_test, result_of

PASS = "bitmask-bias-dropout-to-add"
test_forms = forms_test(PASS)


def test_nothing_is_dropped() -> None:
    form = Form(
        "BitmaskBiasDropout", "", [np.array([[1, 2]], np.float32), const([3, 4], np.float32)]
    )
    assert result_of(PASS, form)[0].tolist() == [[4.0, 6.0]]
