"""moe-group-router-to-topk."""

from typing import Any

import numpy as np
import pytest

from tests.passes.contrib_models import Form, assert_form_refused, forms_test, result_of

PASS = "moe-group-router-to-topk"
OP = "MoEGroupRouter"
test_forms = forms_test(PASS)

F32 = np.float32
LOGITS = np.log(np.array([[1, 3, 1 / 3, 1]], F32))  # Sigmoid gives 1/2, 3/4, 1/4, 1/2
BIAS = np.array([0, 0, 1, 1], F32)


def test_the_bias_chooses_and_does_not_count() -> None:
    """The scores with their bias are 1/2, 3/4 | 5/4, 3/2: the second group is taken."""
    routed = {"top_k": 1, "n_group": 2, "topk_group": 1, "router_sentinel": -7.0}
    (found,) = result_of(PASS, Form(OP, "", [LOGITS, BIAS], [F32], routed))
    np.testing.assert_allclose(found, [[-7, -7, -7, np.log(0.5)]], rtol=1e-6)


def test_all_scores() -> None:
    found = result_of(PASS, Form(OP, "", [LOGITS, BIAS], [None, F32, F32], {"top_k": 1}))
    np.testing.assert_allclose(found[0], [[0.5, 0.75, 1.25, 1.5]], rtol=1e-6)
    np.testing.assert_allclose(found[1], [[0.5, 0.75, 0.25, 0.5]], rtol=1e-6)


REFUSED: list[tuple[list[Any], dict[str, int], str]] = [
    ([F32], {"top_k": 3, "n_group": 2}, "there must be 3 experts or more in the groups"),
    ([F32], {"top_k": 1, "n_group": 3}, "must be in groups of one size; 3 groups"),
    ([F32], {"top_k": 1, "n_group": 2, "group_topk": 0}, "group_topk must be positive"),
    ([None, F32], {"top_k": 1}, "all scores must be asked for, both"),
    ([None, F32, F32], {"top_k": 1, "n_group": 2}, "without groups and a choice"),
]


@pytest.mark.parametrize(("outputs", "attributes", "reason"), REFUSED)
def test_what_is_refused(outputs: list[Any], attributes: dict[str, int], reason: str) -> None:
    assert_form_refused(Form(OP, "", [LOGITS, BIAS], outputs, attributes), reason)


def test_experts_that_do_not_fit_are_refused() -> None:
    form = Form(OP, "", [LOGITS, BIAS[:3]], [F32], {"top_k": 1})
    assert_form_refused(form, "they are 3 and 4")
