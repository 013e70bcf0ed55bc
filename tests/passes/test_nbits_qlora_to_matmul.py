"""nbits-qlora-to-matmul."""

import numpy as np

from benchmarks.coverage.contrib.form import const
from tests.passes.contrib_models import Form, forms_test, result_of

PASS = "nbits-qlora-to-matmul"
test_forms = forms_test(PASS)


def test_base_and_adapter_are_added() -> None:
    how = {"K": 16, "N": 1, "bits": 4, "block_size": 16, "lora_bits": 4, "lora_block_size": 16}
    one, tall = np.full((1, 1, 8), 0x99, np.uint8), np.full((16, 1, 8), 0x99, np.uint8)
    scale, scales = const([[1]], np.float32), const(np.ones((16, 1), np.float32))
    inputs = [
        np.ones((1, 16), np.float32),
        const(one),
        scale,
        const(tall),
        scales,
        const(one),
        scale,
    ]
    form = Form("MatMulNBitsQLoRA", "", inputs, attributes=how)
    assert result_of(PASS, form)[0].tolist() == [[16.0 + 256.0]]
