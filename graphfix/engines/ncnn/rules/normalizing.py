"""ncnn: the layer that pnnx makes of rows that are divided by their norm."""

from __future__ import annotations

from graphfix.authoring.views import NodeView, Value
from graphfix.engines.ncnn.rules import MEASURED
from graphfix.engines.profile import Target
from graphfix.engines.rule import WRONG, Answer, rule

_CHAIN = ("Expand", "Clip")


@rule(
    "Div",
    feature="form:Div.expanded-norm",
    versions="ncnn",
    severity=WRONG,
    source=f"{MEASURED}: ReduceL1 and ReduceL2 of opsets 9 to 18, over any axes of 2 to 4, whatever"
    " the least norm; without Expand or Clip, with a largest norm, where the norm is of another"
    " tensor or is read twice, they are equal",
)
def division_by_expanded_norm(node: NodeView, target: Target) -> Answer:
    """What is divided by its own norm, limited from below and expanded, comes out otherwise."""
    x, value = node.input(0), node.input(1)
    for op in _CHAIN:
        value = _made_once(value, op)
        if value is None:
            return False
    norm = None if value is None else value.producer
    return norm is not None and norm.op in ("ReduceL1", "ReduceL2") and norm.input(0) == x


def _made_once(value: Value | None, op: str) -> Value | None:
    """Return the first operand of what computes a tensor, where it is of one operator."""
    maker = None if value is None else value.producer
    if value is None or maker is None or maker.op != op or len(value.consumers) > 1:
        return None
    limited = maker.has("max") or maker.input(2) is not None
    return None if op == "Clip" and limited else maker.input(0)
