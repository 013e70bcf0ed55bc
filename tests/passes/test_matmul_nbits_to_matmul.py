"""matmul-nbits-to-matmul: write products with packed weights out."""

import numpy as np

from benchmarks.coverage.contrib.form import const
from graphfix.report import Accuracy, Status
from graphfix.testing import run_pass
from tests.passes.contrib_models import Form, assert_form_refused, forms_test, result_of

PASS = "matmul-nbits-to-matmul"
test_forms = forms_test(PASS)


def test_the_low_half_of_a_byte_comes_first() -> None:
    # 4 bits less 8: bytes 0x98 hold 8 and 9, so 0 and 1.
    data = const(np.full((1, 1, 8), 0x98, np.uint8))
    how = {"K": 16, "N": 1, "bits": 4, "block_size": 16}
    x = np.eye(16, dtype=np.float32)[:4]
    form = Form("MatMulNBits", "", [x, data, const([0.5], np.float32)], attributes=how)
    assert result_of(PASS, form)[0][:, 0].tolist() == [0.0, 0.5, 0.0, 0.5]


def test_weights_that_come_late_are_refused() -> None:
    how = {"K": 16, "N": 1, "bits": 4, "block_size": 16}
    inputs = [np.ones((2, 16), np.float32), np.ones((1, 1, 8), np.uint8), const([1], np.float32)]
    reason = "the weights must be a constant; it is computed at run time"
    assert_form_refused(Form("MatMulNBits", "", inputs, attributes=how), reason)


def test_rounding_of_the_other_operand_is_no_part_of_the_meaning() -> None:
    how = {"K": 16, "N": 1, "bits": 4, "block_size": 16, "accuracy_level": 4}
    data = const(np.full((1, 1, 8), 0x98, np.uint8))
    inputs = [np.ones((2, 16), np.float32), data, const([1], np.float32)]
    done = run_pass(PASS, Form("MatMulNBits", "", inputs, attributes=how).model())
    (site,) = done.with_status(Status.APPLIED)[0].sites
    assert site.accuracy is Accuracy.EXACT
