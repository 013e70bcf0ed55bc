"""router-gate-up-proj-to-matmul."""

from typing import Any

import numpy as np
import pytest

from tests.passes.contrib_models import Form, assert_form_refused, forms_test, result_of

PASS = "router-gate-up-proj-to-matmul"
OP = "RouterGateUpProj"
test_forms = forms_test(PASS)

F16 = np.float16
X = np.array([[1, 2]], F16)
W = np.array([[1, 0, 1, 0, 1], [0, 1, 1, -1, 1]], F16)  # gives 1, 2, 3, -2, 3


def test_columns_by_hand() -> None:
    found = result_of(PASS, Form(OP, "", [X, W], [F16, F16], {"router_size": 1}))
    assert found[0].tolist() == [[1]]
    wanted = [[2 / (1 + np.exp(-2)) * -2, 3 / (1 + np.exp(-3)) * 3]]
    np.testing.assert_allclose(found[1], wanted, rtol=2e-3)


REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    (F16, {"router_size": 2}, "5 columns must hold 2 of the router and two halves"),
    (F16, {"router_size": 1, "activation": "relu"}, "must be swiglu; it is relu"),
    (np.float32, {"router_size": 1}, "float32"),
]


@pytest.mark.parametrize(("kind", "attributes", "reason"), REFUSED)
def test_what_is_refused(kind: Any, attributes: dict[str, Any], reason: str) -> None:
    form = Form(OP, "", [X.astype(kind), W.astype(kind)], [kind, kind], attributes)
    assert_form_refused(form, reason)
