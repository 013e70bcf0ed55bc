"""bias-softmax-to-softmax: take BiasSoftmax apart."""

import numpy as np

from tests.passes.contrib_models import Form, assert_form_refused, forms_test, result_of

PASS = "bias-softmax-to-softmax"
test_forms = forms_test(PASS)


def test_all_axes_from_the_first_share_one_softmax() -> None:
    x = np.log(np.arange(1, 9, dtype=np.float32)).reshape(2, 2, 2)
    zero = np.zeros((1, 2, 2), np.float32)
    how = {"axis": 1, "is_inner_broadcast": 0}
    (given,) = result_of(PASS, Form("BiasSoftmax", "", [x, zero], attributes=how))
    wanted = [[[0.1, 0.2], [0.3, 0.4]], [[5 / 26, 6 / 26], [7 / 26, 8 / 26]]]
    np.testing.assert_allclose(given, wanted, rtol=1e-6)


def test_a_bias_of_another_rank_is_refused() -> None:
    x, how = np.zeros((2, 3, 4), np.float32), {"axis": 2, "is_inner_broadcast": 1}
    form = Form("BiasSoftmax", "", [x, x[0]], attributes=how)
    assert_form_refused(form, "x1 must be of rank 3; its rank is 2")
