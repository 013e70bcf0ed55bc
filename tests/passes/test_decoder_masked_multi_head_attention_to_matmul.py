"""decoder-masked-multi-head-attention-to-matmul."""

from typing import Any

import numpy as np
import pytest

from tests.passes.contrib_models import Form, assert_form_refused, forms_test

PASS = "decoder-masked-multi-head-attention-to-matmul"
test_forms = forms_test(PASS)

ONE = np.zeros((2, 1, 8), np.float32)
CACHE = np.zeros((2, 2, 4, 4), np.float32)
LENGTH = np.array([2], np.int32)
SEEN = np.ones((2, 3), np.int32)


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        ([ONE], "keys and values must be given; they are packed with the queries"),
        ([ONE] * 3 + [None, None, CACHE, CACHE, LENGTH, LENGTH], "there must be one beam"),
        ([ONE] * 3 + [SEEN, None, CACHE, CACHE, LENGTH], "neither a mask nor a bias"),
        ([ONE] * 3 + [None, None, CACHE, CACHE], "must share a buffer, and its length be given"),
    ],
)
def test_other_forms_are_refused(inputs: list[Any], reason: str) -> None:
    shared = {"num_heads": 2, "past_present_share_buffer": 1}
    outputs = [np.float32] * 3
    form = Form("DecoderMaskedMultiHeadAttention", "", inputs, outputs, shared)
    assert_form_refused(form, reason)
