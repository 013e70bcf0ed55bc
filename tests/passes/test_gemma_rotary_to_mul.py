"""gemma-rotary-to-mul."""

from __future__ import annotations

import numpy as np
import pytest

from tests.passes.contrib_models import Form, assert_form, forms_of, name_of, result_of

PASS = "gemma-rotary-to-mul"


@pytest.mark.parametrize("form", forms_of(PASS), ids=name_of)
def test_forms(form: Form) -> None:
    assert_form(PASS, form)


def test_a_quarter_turn_gives_what_is_turned() -> None:
    angles = np.full((1, 1, 2), np.pi / 2, np.float32)
    parts = [np.full((1, 1, 1, 2), number, np.float16) for number in (1, 2, 3, 4)]
    form = Form("GemmaRotaryEmbedding", "", [angles, *parts], [np.float16, np.float16])
    given = [result.reshape(-1).tolist() for result in result_of(PASS, form)]
    np.testing.assert_allclose(given, [[2, 2], [4, 4]], atol=5e-3)
