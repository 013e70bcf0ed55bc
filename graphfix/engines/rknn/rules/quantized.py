"""RKNN: operators of bytes next to QuantizeLinear and DequantizeLinear."""

from __future__ import annotations

import numpy as np

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rknn.rules.toolkit import TOOLKIT
from graphfix.engines.rule import REJECT, WRONG, Answer, rule
from graphfix.ir.views import NodeView, Value

_DEEPEST = 9
_MOVING = frozenset({"Identity", "Reshape", "Transpose"})
_QUANTIZING = frozenset({"DequantizeLinear", "QuantizeLinear"})


@rule(
    "QLinearMatMul",
    feature="op:QLinearMatMul",
    severity=REJECT,
    text="Missing quantization parameters for {name}, leading to ambiguity; [TypeInferenceError]"
    " Inferred elem type differs from existing elem type",
    source=f"{TOOLKIT}: facts/graphs.json; without them it is taken, one after another as well",
)
def product_of_bytes(node: NodeView, target: Target) -> Answer:
    """RKNN does not support QLinearMatMul in a model with QuantizeLinear or DequantizeLinear."""
    return any(view.op in _QUANTIZING for view in map(NodeView, node.graph.nodes))


@rule(
    "QuantizeLinear",
    feature="form:QuantizeLinear.cast",
    severity=WRONG,
    source=f"{TOOLKIT}: facts/graphs.json; its output is read as the values that it represents"
    ", moved by Reshape, Transpose and Identity as well",
)
def integers_cast(node: NodeView, target: Target) -> Answer:
    """RKNN casts the dequantized values of QuantizeLinear; ONNX casts its integers."""
    result = node.output(0)
    return result is not None and _is_cast(result)


def _is_cast(value: Value, depth: int = _DEEPEST) -> bool:
    for user in value.consumers if depth else ():
        result = user.output(0)
        if user.op == "Cast":
            return True
        if user.op in _MOVING and result is not None and _is_cast(result, depth - 1):
            return True
    return False


@rule(
    "DequantizeLinear",
    feature="form:DequantizeLinear.other-scale",
    severity=WRONG,
    source=f"{TOOLKIT}: facts/graphs.json",
)
def other_scale(node: NodeView, target: Target) -> Answer:
    """RKNN ignores that DequantizeLinear and the QuantizeLinear before it use different scales."""
    maker = node.need(0).producer
    if maker is None or maker.op != "QuantizeLinear":
        return False
    return any(_differ(node.input(place), maker.input(place)) for place in (1, 2))


@rule(
    "Div",
    feature="form:Div.by-quantized",
    severity=WRONG,
    source=f"{TOOLKIT}: of 18 quotients of 16384 numbers most are right; where the divisor is a sum"
    " that is quantized, what float16 rounds to the next step near 0 is far off",
)
def quotient_of_steps(node: NodeView, target: Target) -> Answer:
    """RKNN may quantize the divisor of Div to 0, which makes quotients far off."""
    divisor = node.need(1)
    maker = divisor.producer
    if maker is None or maker.op != "DequantizeLinear":
        return False
    before = maker.need(0).producer
    if before is None or before.op != "QuantizeLinear" or before.need(0).producer is None:
        return False
    return Unknown(f"how near to 0 {divisor.name} comes")


def _differ(one: Value | None, two: Value | None) -> bool:
    arrays = [None if value is None else value.array() for value in (one, two)]
    first, second = arrays
    return first is not None and second is not None and not np.array_equal(first, second)


@rule(
    "DequantizeLinear",
    feature="form:DequantizeLinear.of-cast",
    severity=REJECT,
    text="KeyError: '{input}__int8'",
    source=f"{TOOLKIT}: facts/graphs.json; integers that are fed are taken",
)
def dequantized_cast(node: NodeView, target: Target) -> Answer:
    """RKNN does not support DequantizeLinear of the output of Cast."""
    maker = node.need(0).producer
    return maker is not None and maker.op == "Cast"
