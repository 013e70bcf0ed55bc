"""nhwc-conv-to-conv."""

import numpy as np

from benchmarks.coverage.contrib.form import const
from tests.passes.contrib_models import Form, forms_test, result_of

PASS = "nhwc-conv-to-conv"
test_forms = forms_test(PASS)


def test_it_is_the_convolution_of_the_image_with_channels_first() -> None:
    x = np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2)
    w = const([[[[1, 10]]], [[[100, 0]]]], np.float32)
    (given,) = result_of(PASS, Form("NhwcConv", "", [x, w], attributes={"kernel_shape": [1, 1]}))
    assert given[0, 0].tolist() == [[10.0, 0.0], [32.0, 200.0]]
