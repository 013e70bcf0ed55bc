"""gated-delta-net-to-matmul."""

from typing import Any

import numpy as np
import pytest

from tests.passes.contrib_models import Form, assert_form_refused, forms_test, result_of

PASS = "gated-delta-net-to-matmul"
OP = "GatedDeltaNet"
test_forms = forms_test(PASS)

BOTH = [np.float32, np.float32]
Q, K = np.array([[[1, 0]], [[0, 2]]], np.float32), np.array([[[1, 0]], [[1, 0]]], np.float32)
V = np.array([[[3]], [[5]]], np.float32)
DECAY = np.log(np.array([[0.5], [0.25]], np.float32))
RATE = np.array([[1], [0.5]], np.float32)
STATE = np.array([[[[2, 4]]]], np.float32)


def test_two_tokens_by_hand() -> None:
    """The state is [2, 4]: [1, 2] and [3, 2] after one token, [0.75, 0.5] and [2.875, 0.5] after.

    That is s exp (g), and this plus b (v - s k) k.
    """
    inputs = [Q, K, V, None, DECAY, RATE, STATE]
    found = result_of(PASS, Form(OP, "", inputs, BOTH, {"scale": 1.0}))
    np.testing.assert_allclose(found[0].ravel(), [3, 1], rtol=1e-6)
    np.testing.assert_allclose(found[1].ravel(), [2.875, 0.5], rtol=1e-6)


def test_packed_sequences_do_not_see_one_another() -> None:
    bounds = np.array([0, 1, 1, 2], np.int32)
    form = Form(OP, "", [Q, K, V, bounds], BOTH, {"scale": 1.0, "update_rule": "linear"})
    found = result_of(PASS, form)
    np.testing.assert_array_equal(found[0].ravel(), [3, 0])
    np.testing.assert_array_equal(found[1][:, 0, 0], [[3, 0], [0, 0], [5, 0]])


ZEROS = [np.zeros((70, 2, 4), np.float32)] * 3
START = np.zeros((1, 2, 4, 4), np.float32)
LINEAR = {"update_rule": "linear"}
REFUSED: list[tuple[list[Any], dict[str, Any], str]] = [
    ([*ZEROS, None, None, None, START], LINEAR, "at most 64; it is 70"),
    ([Q, K, V, None, None, None, STATE], {}, "must have its decay and its rate"),
    (ZEROS, LINEAR, "the first state must be given where no bounds are"),
    ([ZEROS[0][:, 0], None, None, None, None, None, START], LINEAR, "they are packed"),
    ([Q, K, V, None, DECAY, RATE, STATE], {"update_rule": "other"}, "the rule must be linear"),
    ([Q, K, V, None, DECAY, RATE, STATE], {"state_update_capacity": 2}, "without updates"),
    (
        [Q, K, V, None, None, RATE, STATE],
        {"update_rule": "delta", "gate_activation": "kda"},
        "no gate",
    ),
    ([Q, K, V, None, DECAY, RATE, STATE], {"gate_activation": "kda"}, "its slope and its bias"),
    ([Q, K, V, None, DECAY, RATE, STATE], {"beta_activation": "tanh"}, "none or sigmoid; it is"),
]


@pytest.mark.parametrize(("inputs", "attributes", "reason"), REFUSED)
def test_what_is_refused(inputs: list[Any], attributes: dict[str, Any], reason: str) -> None:
    assert_form_refused(Form(OP, "", inputs, BOTH, attributes), reason)
