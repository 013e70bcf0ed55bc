"""complex-mul-to-mul: take ComplexMul and ComplexMulConj apart."""

import numpy as np

from tests.passes.contrib_models import Form, forms_test, result_of

PASS = "complex-mul-to-mul"
test_forms = forms_test(PASS)


def test_the_product_of_two_numbers() -> None:
    form = Form("ComplexMul", "", [np.array([[1, 2]], np.float32), np.array([[3, 4]], np.float32)])
    assert result_of(PASS, form)[0].tolist() == [[-5.0, 10.0]]
