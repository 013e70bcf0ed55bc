"""bitmask-dropout-to-identity: take BitmaskDropout apart: nothing, where it is not trained."""

import numpy as np

from benchmarks.coverage.contrib.form import const
from tests.passes.contrib_models import Form, forms_test, result_of

PASS = "bitmask-dropout-to-identity"
test_forms = forms_test(PASS)


def test_nothing_is_dropped() -> None:
    form = Form("BitmaskDropout", "", [np.array([[1, 2]], np.float32), const(np.float32(0.9))])
    assert result_of(PASS, form)[0].tolist() == [[1.0, 2.0]]
