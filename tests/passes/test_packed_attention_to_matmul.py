"""packed-attention-to-matmul."""

import numpy as np

from tests.passes.contrib_models import Form, assert_form_refused, forms_test

PASS = "packed-attention-to-matmul"
test_forms = forms_test(PASS)


def test_a_bias_of_the_scores_is_refused() -> None:
    inputs = [
        np.zeros((4, 8), np.float32),
        np.zeros((8, 24), np.float32),
        np.zeros(24, np.float32),
        np.zeros((2, 3), np.int32),
        np.array([0, 1, 4], np.int32),
        np.zeros((1, 2, 3, 3), np.float32),
    ]
    form = Form("PackedAttention", "", inputs, attributes={"num_heads": 2})
    assert_form_refused(form, "the scores must have no bias; they have one")
