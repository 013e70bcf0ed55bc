"""brevitas-trunc-to-floor: Trunc."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.brevitas_models import EVALUATORS, NUMBERS, number, quantizer

PASS = "brevitas-trunc-to-floor"


@pytest.mark.parametrize("mode", ["FLOOR", "ROUND", "CEIL"])
@pytest.mark.parametrize("bits", [4, 6, 8])
def test_bits_are_dropped(bits: int, mode: str) -> None:
    constants = [number(0.25), number(0), number(8), number(bits)]
    model = quantizer("Trunc", constants, rounding_mode=mode)
    assert_rewrite(PASS, model, feeds=[{"x": NUMBERS}], evaluators=EVALUATORS)


@pytest.mark.parametrize(("signed", "narrow"), [(1, 0), (1, 1), (0, 0)])
def test_another_scale_and_range_of_the_result(signed: int, narrow: int) -> None:
    constants = [number(v) for v in (0.25, 2, 8, 1.0, 0, 3)]
    model = quantizer("Trunc", constants, signed=signed, narrow=narrow)
    done = assert_rewrite(PASS, model, feeds=[{"x": NUMBERS}], evaluators=EVALUATORS)
    x = np.array([3.75, 100], np.float32)  # 17 of 4 is 4 of 1; less 2 of 4 is half of 1
    limit = 7 if not signed else 3
    wanted = [min(4, limit) - 0.5, limit - 0.5]
    assert outputs_of(done.after, {"x": x})["y"].tolist() == wanted
