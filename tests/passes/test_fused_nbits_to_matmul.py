"""fused-nbits-to-matmul: take MatMulNBitsQkv, MatMulNBitsMlp and MatMulNBitsQLoRA apart."""

from typing import Any

import numpy as np

from benchmarks.coverage.contrib.form import const
from tests.passes.contrib_models import Form, forms_test, result_of

PASS = "fused-nbits-to-matmul"
test_forms = forms_test(PASS)


def test_keys_and_values_have_their_own_weights() -> None:
    how = {"K": 16, "Nq": 1, "Nkv": 1, "bits": 4, "block_size": 16}
    parts: list[Any] = []
    for number in (0x99, 0xAA, 0x77):  # 1, 2 and -1
        parts += [const(np.full((1, 1, 8), number, np.uint8)), const([[1]], np.float32), None]
    x = np.ones((1, 1, 16), np.float32)
    form = Form("MatMulNBitsQkv", "", [x, None, None, *parts], [np.float32] * 3, how)
    assert [float(part[0, 0, 0]) for part in result_of(PASS, form)] == [16.0, 32.0, -16.0]
