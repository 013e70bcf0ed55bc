"""ncnn: powers, which are exp(y * log(x)) four at a time."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.ncnn.rules import FACTS
from graphfix.engines.operands import is_always_positive, is_never_negative
from graphfix.engines.profile import Target
from graphfix.engines.rule import WRONG, Answer, rule
from graphfix.ir.views import NodeView, Value

# What a Gelu by tanh is made of, from its third power on: the operator, and at which place of its
# operands what comes before is (F_gelu_3 of tools/pnnx/src/pass_level2/F_gelu.cpp).
_TO_TANH = (("Mul", 0), ("Add", 1), ("Mul", 0), ("Tanh", 0), ("Add", 0), ("Mul", 1))
_CUBE, _COEFFICIENT, _SCALE, _HALF = 3.0, 0.044715, 0.7978846, 0.5
_NEAR = 1e-4


@rule(
    "Pow",
    feature="form:Pow.negative",
    severity=WRONG,
    source=f"{FACTS}: exponents but 1 and 2; of a Gelu by tanh whose operands are as PyTorch"
    " writes them the third power is no layer of its own",
)
def power_of_what_may_be_negative(node: NodeView, target: Target) -> Answer:
    """ncnn computes Pow of a negative base wrongly unless the exponent is 1 or 2."""
    return not _is_taken(node) and not is_never_negative(node.input(0))


@rule(
    "Pow",
    feature="form:Pow.zero",
    severity=WRONG,
    source=f"{FACTS}: exponents but 1 and 2: 2.4e38 for 0",
)
def power_of_zero(node: NodeView, target: Target) -> Answer:
    """ncnn computes Pow of base 0 wrongly unless the exponent is 1 or 2."""
    if _is_taken(node) or not is_never_negative(node.input(0)):
        return False
    return not is_always_positive(node.input(0)) and Unknown("whether the base is 0")


def _is_taken(node: NodeView) -> bool:
    """Say whether it is a power that is computed differently: a square, or that of a Gelu."""
    exponent = node.input(1)
    powers = None if exponent is None else exponent.array()
    if powers is None:
        return exponent is None
    return bool(((powers == 1) | (powers == 2)).all()) or _is_of_gelu(node)


def _is_of_gelu(node: NodeView) -> bool:
    """Say whether a power is that of 0.5 * x * (1 + tanh(s * (x + c * x^3)))."""
    x, place, reader = node.need(0), 0, node
    nodes: list[NodeView] = []
    for op, place in _TO_TANH:
        value = reader.output(0)
        if value is None or value.is_graph_output or len(value.consumers) != 1:
            return False
        (reader,) = value.consumers
        if reader.op != op or reader.input(place) != value:
            return False
        nodes.append(reader)
    scaled, summed, slope, _, moved, last = nodes
    half = last.need(0).producer
    return (
        _holds(node.input(1), _CUBE)
        and _holds(scaled.input(1), _COEFFICIENT)
        and summed.input(0) == x
        and _holds(slope.input(1), _SCALE)
        and _holds(moved.input(1), 1.0)
        and half is not None
        and half.op == "Mul"
        and half.input(0) == x
        and _holds(half.input(1), _HALF)
    )


def _holds(value: Value | None, number: float) -> bool:
    """Say whether a constant is one number."""
    array = None if value is None else value.array()
    return (
        array is not None and array.size == 1 and abs(float(array.reshape(-1)[0]) - number) < _NEAR
    )
