"""brevitas-float-to-round: FloatQuant."""

import numpy as np
import onnx
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.brevitas_models import EVALUATORS, NUMBERS, number, quantizer

PASS = "brevitas-float-to-round"


@pytest.mark.parametrize("mode", ["ROUND", "FLOOR"])
@pytest.mark.parametrize(
    ("exponent", "mantissa", "bias", "most"), [(4, 3, 7, 448.0), (2, 1, 1, 6.0)]
)
def test_floats_of_few_bits(
    exponent: int, mantissa: int, bias: int, most: float, mode: str
) -> None:
    constants = [number(v) for v in (0.5, exponent, mantissa, bias, most)]
    model = quantizer("FloatQuant", constants, rounding_mode=mode, saturation=1)
    powers = np.exp2(np.arange(-14, 12)).astype(np.float32)
    data = np.concatenate([NUMBERS, powers, np.nextafter(powers, np.float32(0)), -1.3 * powers])
    assert_rewrite(PASS, model, feeds=[{"x": data.astype(np.float32)}], evaluators=EVALUATORS)


def test_what_onnx_calls_float8() -> None:
    constants = [number(v) for v in (1, 4, 3, 7, 448.0)]
    done = assert_rewrite(
        PASS, quantizer("FloatQuant", constants), feeds=[{"x": NUMBERS}], evaluators=EVALUATORS
    )
    rng = np.random.default_rng(0)
    x = (rng.normal(size=500) * np.exp2(rng.integers(-12, 9, 500))).astype(np.float32)
    kind = onnx.helper.tensor_dtype_to_np_dtype(onnx.TensorProto.FLOAT8E4M3FN)
    wanted = np.clip(x, -448, 448).astype(kind).astype(np.float32)
    assert outputs_of(done.after, {"x": x})["y"].tolist() == wanted.tolist()
