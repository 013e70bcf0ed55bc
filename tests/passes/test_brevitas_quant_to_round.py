"""brevitas-quant-to-round: Quant and IntQuant of QONNX and Brevitas."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.brevitas_models import EVALUATORS, NUMBERS, number, quantizer

PASS = "brevitas-quant-to-round"


@pytest.mark.parametrize("opset", [9, 13])
@pytest.mark.parametrize("domain", ["qonnx.custom_op.general", "onnx.brevitas"])
@pytest.mark.parametrize("mode", ["ROUND", "CEIL", "floor"])
@pytest.mark.parametrize(("bits", "signed", "narrow"), [(4, 1, 0), (4, 1, 1), (3, 0, 0), (1, 1, 0)])
def test_ranges(bits: int, signed: int, narrow: int, mode: str, domain: str, opset: int) -> None:
    constants = [number(0.5), number(0), number(bits)]
    given: dict[str, Any] = {"signed": signed, "narrow": narrow, "rounding_mode": mode}
    model = quantizer("Quant", constants, domain=domain, opset=opset, **given)
    assert_rewrite(PASS, model, feeds=[{"x": NUMBERS}], evaluators=EVALUATORS)


def test_scales_of_channels_and_a_zero_point() -> None:
    scale = np.array([[0.5], [0.25]], np.float32)
    model = quantizer("IntQuant", [scale, number(3), number(8)], shape=[2, 6], signed=0, narrow=0)
    done = assert_rewrite(PASS, model, feeds=[{"x": NUMBERS.reshape(2, 6)}], evaluators=EVALUATORS)
    assert done.ops == ["Div", "Add", "Clip", "Round", "Sub", "Mul"]
    x = np.array([[0.5] * 6, [100.0] * 6], np.float32)
    assert outputs_of(done.after, {"x": x})["y"][:, 0].tolist() == [0.5, 63.0]  # (255 - 3) * 0.25
