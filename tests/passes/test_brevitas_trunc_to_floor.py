"""brevitas-trunc-to-floor: Trunc."""

from __future__ import annotations

import pytest

from graphfix.testing import assert_refused, assert_rewrite
from tests.passes.brevitas_models import EVALUATORS, NUMBERS, number, quantizer

PASS = "brevitas-trunc-to-floor"


@pytest.mark.parametrize("mode", ["FLOOR", "ROUND", "CEIL"])
@pytest.mark.parametrize("bits", [4, 6, 8])
def test_bits_are_dropped(bits: int, mode: str) -> None:
    constants = [number(0.25), number(0), number(8), number(bits)]
    model = quantizer("Trunc", constants, rounding_mode=mode)
    assert_rewrite(PASS, model, feeds=[{"x": NUMBERS}], evaluators=EVALUATORS)


def test_the_form_of_seven_inputs_is_refused() -> None:
    model = quantizer("Trunc", [number(1)] * 6)
    assert_refused(PASS, model, "there must be five inputs")
