"""MNN: what it takes for a Gelu of Erf, and computes by the approximation with Tanh.

Which forms are taken for one was measured (facts/forms.json): the one is added after the Erf, and
factors and divisors are second. A Sub in the place of the Add is not known as one, and is
computed to the last digits. What is written with Tanh is computed well enough.

Whether an error of 5e-4 shows in what a network outputs depends on all that follows: of eight
networks of the corpus it does in two. So they are reported as possibly wrong.
"""

from __future__ import annotations

from math import sqrt

from graphfix.authoring.declaring import Unknown
from graphfix.engines.mnn.rules.wheel import WHEEL
from graphfix.engines.profile import Target
from graphfix.engines.rule import WRONG, Answer, rule
from graphfix.ir.views import NodeView, Value

_CLOSE = 1e-5
_SHOWS = Unknown("whether 5e-4 shows in what the network outputs")


@rule(
    "Gelu",
    feature="op:Gelu",
    severity=WRONG,
    source=f"{WHEEL}: off by 4.7e-4 at -2.7; with approximate = tanh by 1.8e-4",
)
def gelu_by_tanh(node: NodeView, target: Target) -> Answer:
    """MNN approximates Gelu with tanh, with an error of up to 5e-4."""
    return _SHOWS if node.attr("approximate", "none") == "none" else None


@rule(
    "Add",
    feature="form:Add.of-erf",
    severity=WRONG,
    source=f"{WHEEL}: x * (Erf (x / sqrt 2) + 1) * 0.5 is off by 4.7e-4 at -2.7",
)
def gelu_of_erf(node: NodeView, target: Target) -> Answer:
    """MNN fuses this Gelu of Erf and approximates it with tanh, with an error of up to 5e-4."""
    x = _scaled(_maker(node.input(0), "Erf"))
    if x is None or not _is(node.input(1), 1):
        return None
    fused = any(
        _halves(halving, product)
        for product in _readers(node, "Mul")
        if x.tensor in product.node.inputs
        for halving in _readers(product, "Mul", "Div")
    )
    return _SHOWS if fused else None


def _scaled(erf: NodeView | None) -> Value | None:
    """Return x of Erf (x / sqrt 2)."""
    before = None if erf is None else erf.input(0)
    times, over = _maker(before, "Mul"), _maker(before, "Div")
    if over is not None:
        return over.input(0) if _is(over.input(1), sqrt(2)) else None
    if times is None:
        return None
    return times.input(0) if _is(times.input(1), sqrt(0.5)) else None


def _halves(node: NodeView, made: NodeView) -> bool:
    """Say whether a node multiplies what another gives by a half, or divides it by two."""
    first, result = node.input(0), made.output(0)
    if first is None or result is None or first.tensor is not result.tensor:
        return False
    return _is(node.input(1), 2 if node.op == "Div" else 0.5)


def _readers(node: NodeView, *ops: str) -> list[NodeView]:
    result = node.output(0)
    return [] if result is None else [user for user in result.consumers if user.op in ops]


def _maker(value: Value | None, op: str) -> NodeView | None:
    """Return the node that computes a value, where it is of an operator."""
    made = None if value is None else value.producer
    return made if made is not None and made.op == op else None


def _is(value: Value | None, number: float) -> bool:
    """Say whether a value is a single constant number, without an axis."""
    if value is None or value.rank != 0 or not value.is_constant:
        return False
    array = value.array()
    return array is not None and abs(float(array) - number) <= _CLOSE
