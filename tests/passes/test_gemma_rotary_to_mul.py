"""gemma-rotary-to-mul."""

import numpy as np

from tests.passes.contrib_models import Form, forms_test, result_of

PASS = "gemma-rotary-to-mul"
test_forms = forms_test(PASS)


def test_a_quarter_turn_gives_what_is_turned() -> None:
    angles = np.full((1, 1, 2), np.pi / 2, np.float32)
    parts = [np.full((1, 1, 1, 2), number, np.float16) for number in (1, 2, 3, 4)]
    form = Form("GemmaRotaryEmbedding", "", [angles, *parts], [np.float16, np.float16])
    given = [result.reshape(-1).tolist() for result in result_of(PASS, form)]
    np.testing.assert_allclose(given, [[2, 2], [4, 4]], atol=5e-3)
