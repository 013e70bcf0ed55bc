"""nhwc-fused-conv-to-conv."""

import numpy as np

from benchmarks.coverage.contrib.form import const
from tests.passes.contrib_models import Form, forms_test, result_of

PASS = "nhwc-fused-conv-to-conv"
test_forms = forms_test(PASS)


def test_what_is_added_comes_before_the_activation() -> None:
    x, z = np.array([[[[1], [2]]]], np.float32), np.array([[[[-5], [1]]]], np.float32)
    how = {"kernel_shape": [1, 1], "activation": "Relu"}
    form = Form("NhwcFusedConv", "", [x, const([[[[3]]]], np.float32), None, z], attributes=how)
    assert result_of(PASS, form)[0].tolist() == [[[[0.0], [7.0]]]]
