"""bias-split-gelu-to-erf: take BiasSplitGelu and GemmFastGelu apart."""

import numpy as np

from benchmarks.coverage.contrib.form import const
from tests.passes.contrib_models import Form, forms_test, result_of

PASS = "bias-split-gelu-to-erf"
test_forms = forms_test(PASS)


def test_the_left_half_is_gated_by_the_right() -> None:
    form = Form(
        "BiasSplitGelu", "", [np.array([[2, 4, 1, -1]], np.float32), const(np.zeros(4, np.float32))]
    )
    np.testing.assert_allclose(result_of(PASS, form)[0], [[2 * 0.841345, 4 * -0.158655]], rtol=1e-5)
