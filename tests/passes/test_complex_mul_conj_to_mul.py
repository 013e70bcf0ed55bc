"""complex-mul-conj-to-mul."""

import numpy as np

from tests.passes.contrib_models import Form, forms_test, result_of

PASS = "complex-mul-conj-to-mul"
test_forms = forms_test(PASS)


def test_the_product_with_a_conjugate() -> None:
    form = Form(
        "ComplexMulConj", "", [np.array([[1, 2]], np.float32), np.array([[3, 4]], np.float32)]
    )
    assert result_of(PASS, form)[0].tolist() == [[11.0, 2.0]]
