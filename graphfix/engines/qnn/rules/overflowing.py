"""QNN: numbers that float16 lacks: beyond the largest, of inputs around 1, and near to 0."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.magnitude_estimate import grows_beyond_float16, numbers_of
from graphfix.engines.profile import Target
from graphfix.engines.qnn.rules.provider import PROVIDER
from graphfix.engines.rule import WRONG, Answer, rule
from graphfix.ir.views import NodeView

_SMALLEST = 2.0**-23  # twice the smallest of float16
_KEPT_FROM_ZERO = {"Add": (0, 1), "Clip": (1,), "Max": (0, 1)}  # where the least number may be

GROWN_BEYOND_FLOAT16 = grows_beyond_float16(
    versions="qnn",
    source=f"{PROVIDER}: facts/asked.json, overflows; mean and spread of what Conv, Gemm and MatMul"
    " by weights, Relu and sums in a row make of numbers around 0 that are spread by 1",
)


@rule(
    "Log",
    feature="form:Log.of-nearly-zero",
    severity=WRONG,
    source=f"{PROVIDER}: facts/asked.json, log-of-nearly-zero: 1e-8 and less is 0 in float16, of"
    " which the logarithm is far off; from 1e-6 on it is right",
)
def logarithm_of_nearly_zero(node: NodeView, target: Target) -> Answer:
    """QNN computes in float16, where the epsilon added before Log underflows to 0."""
    x = node.input(0)
    maker = None if x is None else x.producer
    if maker is None or maker.domain or maker.op not in _KEPT_FROM_ZERO:
        return None
    known = [maker.input(place) for place in _KEPT_FROM_ZERO[maker.op]]
    held = [
        array for value in known if (array := numbers_of(value)) is not None and array.size == 1
    ]
    if any(0 < float(array.item()) < _SMALLEST for array in held):
        return Unknown("how near to 0 its operand comes")
    return None
