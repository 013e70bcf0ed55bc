"""matmul-bnb4-to-matmul: write a product with weights of FP4 or NF4 out."""

import numpy as np

from benchmarks.coverage.contrib.form import const
from tests.passes.contrib_models import Form, forms_test, result_of

PASS = "matmul-bnb4-to-matmul"
test_forms = forms_test(PASS)


def test_the_high_half_of_a_byte_comes_first() -> None:
    how = {"K": 16, "N": 1, "block_size": 16, "quant_type": 1}
    data = const(np.full(8, 0xF0, np.uint8))  # 1.0 and -1.0 of NF4
    x = np.eye(16, dtype=np.float32)[:2]
    form = Form("MatMulBnb4", "", [x, data, const([3], np.float32)], attributes=how)
    assert result_of(PASS, form)[0][:, 0].tolist() == [3.0, -3.0]
