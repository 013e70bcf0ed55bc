"""contrib-quantize-to-onnx."""

import numpy as np

from benchmarks.coverage.contrib.form import const
from tests.passes.contrib_models import Form, forms_test, result_of

PASS = "contrib-quantize-to-onnx"
test_forms = forms_test(PASS)


def test_16_bits_are_arithmetic_below_opset_21() -> None:
    x, zero = np.array([[-1, 0.5, 9e9]], np.float32), const(np.uint16(7))
    form = Form("QuantizeLinear", "", [x, const(np.float32(0.25)), zero], [np.uint16])
    assert result_of(PASS, form)[0].tolist() == [[3, 9, 65535]]
