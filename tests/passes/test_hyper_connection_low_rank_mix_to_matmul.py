"""hyper-connection-low-rank-mix-to-matmul."""

from typing import Any

import numpy as np
import pytest

from tests.passes.contrib_models import Form, assert_form_refused, forms_test, result_of

PASS = "hyper-connection-low-rank-mix-to-matmul"
OP = "HyperConnectionLowRankMix"
test_forms = forms_test(PASS)

F32 = np.float32
X = np.array([[3, -3, 2, 2]], F32)  # two streams, which are [1, -1] and [1, 1] of root 1
WEIGHTS = [np.ones(4, F32), np.zeros((4, 1), F32), np.ones((1, 4), F32), np.zeros((4, 2), F32)]
BEFORE = [np.array([[1, 5]], F32), np.array([[2, 0]], F32)]


def test_closed_gates_by_hand() -> None:
    """Products of 0 open every gate by one half."""
    form = Form(OP, "", [X, *WEIGHTS], [F32, F32], {"num_branches": 2, "gate_mul": 3.0})
    found = result_of(PASS, form)
    np.testing.assert_allclose(found[0], [[1, 0]], atol=1e-5)
    np.testing.assert_allclose(found[1], [[1.5, 1.5]], rtol=1e-6)


def test_what_the_block_before_gave_joins_the_streams() -> None:
    form = Form(OP, "", [X, *WEIGHTS, *BEFORE], [F32] * 3, {"num_branches": 2})
    np.testing.assert_array_equal(result_of(PASS, form)[2], [[5, 7, 2, 2]])


REFUSED: list[tuple[list[Any], dict[str, Any], str]] = [
    ([], {"num_branches": 3}, "a multiple of 3 streams; it is 4"),
    (BEFORE[:1], {"num_branches": 2}, "must come together; one is missing"),
    ([], {"num_branches": 2, "gate_div": 0.0}, "gate_div must not be 0"),
]


@pytest.mark.parametrize(("more", "attributes", "reason"), REFUSED)
def test_what_is_refused(more: list[Any], attributes: dict[str, Any], reason: str) -> None:
    assert_form_refused(Form(OP, "", [X, *WEIGHTS, *more], [F32, F32], attributes), reason)
