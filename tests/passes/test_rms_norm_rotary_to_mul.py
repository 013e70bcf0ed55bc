"""rms-norm-rotary-to-mul."""

from typing import Any

import numpy as np
import pytest

from tests.passes.contrib_models import Form, assert_form_refused, forms_test, result_of

PASS = "rms-norm-rotary-to-mul"
OP = "RMSNormRotary"
test_forms = forms_test(PASS)

F16, F32 = np.float16, np.float32
X = np.array([[[[3, -3, 3]], [[5, 5, -5]]]], F16)  # of root 1: [1, -1, 1] and [1, 1, -1]
SCALE = np.array([1, 2, 4], F32)
COSINE, SINE = np.array([[9], [1], [0]], F32), np.array([[9], [0], [1]], F32)
HALF = {"rotary_embedding_dim": 2, "output_fp16": 1}


def test_the_front_is_turned_from_the_first_position_on() -> None:
    """The first token is at position 1 and stays; the second one is turned by a right angle."""
    inputs = [X, SCALE, np.array([1]), COSINE, SINE]
    found = result_of(PASS, Form(OP, "", inputs, [F16, F32], HALF))
    assert found[0].dtype == F16
    np.testing.assert_allclose(found[0], [[[1, -2, 4], [-2, 1, -4]]], rtol=1e-3)
    np.testing.assert_allclose(found[1], [[[[1, -2, 4]], [[1, 2, -4]]]], rtol=1e-5)


TWO = np.concatenate([X, X])
REFUSED: list[tuple[list[Any], dict[str, Any], str]] = [
    ([X, SCALE, np.array([1, 2]), COSINE, SINE], HALF, "known to be one position, or one for each"),
    ([TWO, SCALE, np.array([1]), COSINE, SINE], {**HALF, "flatten_batch": 1}, "of one sequence"),
    ([X, SCALE, np.array([1]), COSINE, SINE], {"rotary_embedding_dim": 3}, "even and at most 3"),
    ([X, SCALE, np.array([1]), COSINE, SINE], {**HALF, "input_start": 1}, "what is normalised"),
    ([X, SCALE[:2], np.array([1]), COSINE, SINE], HALF, "must have 3 numbers"),
    ([X, SCALE, np.array([1]), COSINE[:, :0], SINE], HALF, "must have 1 numbers for each position"),
    ([X[0], SCALE, np.array([1]), COSINE, SINE], HALF, "must be 4; it is 3"),
]


@pytest.mark.parametrize(("inputs", "attributes", "reason"), REFUSED)
def test_what_is_refused(inputs: list[Any], attributes: dict[str, Any], reason: str) -> None:
    assert_form_refused(Form(OP, "", inputs, [F16], attributes), reason)
