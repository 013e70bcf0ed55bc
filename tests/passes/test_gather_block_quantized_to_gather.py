"""gather-block-quantized-to-gather: write a lookup in a quantized table out."""

import numpy as np

from benchmarks.coverage.contrib.form import const
from tests.passes.contrib_models import Form, assert_form_refused, forms_test

PASS = "gather-block-quantized-to-gather"
test_forms = forms_test(PASS)


def test_another_axis_is_refused() -> None:
    how = {"bits": 8, "block_size": 16, "gather_axis": 1, "quantize_axis": 1}
    data, scales = const(np.zeros((4, 16), np.uint8)), const(np.ones((4, 1), np.float32))
    form = Form("GatherBlockQuantized", "", [data, np.array([1]), scales], attributes=how)
    assert_form_refused(form, "the lookup be along the first; they are along 1 and 1")
