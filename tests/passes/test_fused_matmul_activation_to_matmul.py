"""fused-matmul-activation-to-matmul."""

import numpy as np

from tests.passes.contrib_models import Form, assert_form_refused, forms_test, result_of

PASS = "fused-matmul-activation-to-matmul"
test_forms = forms_test(PASS)


def test_an_activation_that_lacks_its_parameter_is_refused() -> None:
    a = np.ones((2, 2), np.float32)
    form = Form("FusedMatMulActivation", "", [a, a], attributes={"activation": "LeakyRelu"})
    assert_form_refused(form, "activation_alpha must be given")


def test_the_factor_comes_before_the_activation() -> None:
    a, how = np.eye(2, dtype=np.float32), {"activation": "Relu", "alpha": -2.0}
    form = Form(
        "FusedMatMulActivation", "", [a, np.array([[1, -1], [2, -3]], np.float32)], attributes=how
    )
    assert result_of(PASS, form)[0].tolist() == [[0.0, 2.0], [0.0, 6.0]]
