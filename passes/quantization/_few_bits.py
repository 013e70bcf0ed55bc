"""Rounding to floating point numbers of a few bits, by arithmetic in float32.

The step between two such numbers is found by comparing with powers of two, so that no logarithm
rounds: https://onnx.ai/onnx/technical/float8.html; qonnx/custom_op/general/floatquant.py.
"""

from typing import NamedTuple

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, Refuse, Value

from ._parameters import rounded

FEW_EMITS = "Abs Add Cast Ceil Clip Div Floor Less Max Mul Not Round Sub"


class FewBits(NamedTuple):
    """The values of a floating point format; the largest is what others become that are larger."""

    exponent: int
    mantissa: int
    bias: int
    most: float


FEW_BITS = {
    int(TensorProto.FLOAT8E4M3FN): FewBits(4, 3, 7, 448.0),
    int(TensorProto.FLOAT8E5M2): FewBits(5, 2, 15, 57344.0),
}


def rounded_to_few_bits(build: Builder, x: Value, form: FewBits, mode: str) -> Value:
    """Return the values of a format that are next to those of x."""
    size = build.Abs(x)
    lowest = 1 - form.bias
    step: Value = build.constant(np.array(2.0 ** (lowest - form.mantissa), np.float32))
    for place in range(lowest + 1, 2**form.exponent - form.bias + 1):
        reached = build.Cast(build.Not(build.Less(size, 2.0**place)), to=x.elem_type)
        step = build.Max(step, build.Mul(reached, 2.0 ** (place - form.mantissa)))
    most = np.float32(form.most)
    limited = build.Clip(x, min=-2 * most, max=2 * most)
    steps = rounded_by(build, build.Div(limited, step), mode)
    return build.Clip(build.Mul(step, steps), min=-most, max=most)


def rounded_by(build: Builder, x: Value, mode: str) -> Value:
    """Round as a mode of QONNX says.

    Raises:
        Refuse: The mode is another than ROUND, CEIL and FLOOR.
    """
    match mode.upper():
        case "ROUND":
            return rounded(build, x)
        case "CEIL":
            return build.Ceil(x)
        case "FLOOR":
            return build.Floor(x)
        case _:
            raise Refuse(f"the rounding must be ROUND, CEIL or FLOOR; it is {mode}")
