"""causal-conv-with-state-to-conv."""

import numpy as np
import pytest

from tests.passes.contrib_models import Form, assert_form_refused, forms_test

PASS = "causal-conv-with-state-to-conv"
test_forms = forms_test(PASS)


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"activation": "relu"}, "the activation must be none, silu or swish; it is relu"),
        ({"state_window": 2}, "one state; x0 has 3 dimensions and state_window"),
    ],
)
def test_other_forms_are_refused(attributes: dict[str, object], reason: str) -> None:
    inputs = [np.zeros((1, 4, 5), np.float32), np.zeros((4, 1, 3), np.float32)]
    both = [np.float32, np.float32]
    assert_form_refused(Form("CausalConvWithState", "", inputs, both, attributes), reason)


def test_two_axes_are_refused() -> None:
    inputs = [np.zeros((1, 4, 5, 5), np.float32), np.zeros((4, 1, 3, 3), np.float32)]
    form = Form("CausalConvWithState", "", inputs, attributes={"ndim": 2})
    assert_form_refused(form, "x0 has 4 dimensions")
