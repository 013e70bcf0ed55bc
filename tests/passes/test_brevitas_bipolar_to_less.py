"""brevitas-bipolar-to-less: BipolarQuant."""

from graphfix.testing import assert_rewrite
from tests.passes.brevitas_models import EVALUATORS, NUMBERS, number, quantizer

PASS = "brevitas-bipolar-to-less"


def test_signs() -> None:
    done = assert_rewrite(
        PASS,
        quantizer("BipolarQuant", [number(0.5)]),
        feeds=[{"x": NUMBERS}],
        evaluators=EVALUATORS,
    )
    assert done.ops == ["Less", "Cast", "Mul", "Sub", "Mul"]
