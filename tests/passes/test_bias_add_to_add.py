"""bias-add-to-add: take BiasAdd and the dropouts of onnxruntime's training apart."""

import numpy as np

from benchmarks.coverage.contrib.form import const
from tests.passes.contrib_models import Form, forms_test, result_of

PASS = "bias-add-to-add"
test_forms = forms_test(PASS)


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
