"""gelu-fusion: the arithmetic as exporters and authors write it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite, assert_unmatched
from tests.passes.fusing import assert_fused, assert_left_alone_with_a_reader, assert_proved
from tests.passes.gelu_forms import BY_ERF, CONSTANTS, text

PASS = "gelu-fusion"
FORMS = list(BY_ERF.values())
OLDER = BY_ERF["older exporter"]


@pytest.mark.parametrize("form", FORMS)
def test_values_wherever_they_are(form: str) -> None:
    assert_fused(PASS, CONSTANTS + form, (7,), ["Gelu"], opset=20, typed="N")
    assert assert_proved(PASS, text(form)) == ["Gelu"]


def test_float16() -> None:
    for form in FORMS:
        body = CONSTANTS + form
        assert_fused(PASS, body, (7,), ["Gelu"], opset=20, dtypes=("float16",))


def test_below_opset_20_where_asked_for() -> None:
    reason = "Gelu needs opset 20 or the option contrib; this is opset 17"
    assert_refused(PASS, text(OLDER, 17), reason)
    assert assert_proved(PASS, text(OLDER, 17), {"contrib": True}) == ["Gelu"]


def test_inner_values_with_readers_and_other_values_are_left_alone() -> None:
    assert_left_alone_with_a_reader(PASS, text(OLDER), "e")
    other = text(OLDER).replace("1.4142135", "1.41422")
    assert_unmatched(PASS, other, "must be the number 1.414213562")
    halved = text(OLDER).replace("Mul (m, half)", "Mul (m, one)")
    assert_unmatched(PASS, halved, "must be the number 0.5; it is 1.0")


@given(st.lists(st.floats(-1e4, 1e4, width=32), min_size=1, max_size=6), st.sampled_from(FORMS))
def test_any_numbers(numbers: list[float], form: str) -> None:
    feed = {"x": np.array(numbers, np.float32)}
    assert_rewrite(PASS, text(form), feeds=[feed], rtol=1e-4, atol=1e-4)
