"""linear-attention-to-matmul."""

import numpy as np

from tests.passes.contrib_models import Form, assert_form_refused, forms_test

PASS = "linear-attention-to-matmul"
test_forms = forms_test(PASS)

OPERANDS = [np.zeros((1, 70, 8), np.float32) for _ in range(3)]
HEADS = {"q_num_heads": 2, "kv_num_heads": 2}


def test_many_tokens_that_decay_are_refused() -> None:
    rate = np.zeros((1, 70, 2), np.float32)
    form = Form("LinearAttention", "", [*OPERANDS, None, rate], attributes=HEADS)
    assert_form_refused(form, "the rule gated_delta must have its decay and its rate")
    form = Form("LinearAttention", "", [*OPERANDS, None, rate, rate], attributes=HEADS)
    assert_form_refused(form, "the number of tokens must be known and at most 64")


def test_more_heads_of_keys_are_refused() -> None:
    few = {"q_num_heads": 1, "kv_num_heads": 2, "update_rule": "linear"}
    form = Form("LinearAttention", "", OPERANDS, attributes=few)
    assert_form_refused(form, "must be a multiple of those of keys; they are 1 and 2")
