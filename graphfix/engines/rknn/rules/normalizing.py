"""RKNN: norms that the toolkit makes one layer of."""

from __future__ import annotations

from graphfix.engines.operands import only_reader
from graphfix.engines.profile import Target
from graphfix.engines.rknn.rules.toolkit import TOOLKIT
from graphfix.engines.rule import WRONG, Answer, rule
from graphfix.ir.views import NodeView

_SQUARE = 2.0


@rule(
    "Pow",
    feature="form:Pow.layer-norm",
    severity=WRONG,
    source=f"{TOOLKIT}: wrong scores of Gemma 2 and 3, and small graphs, at which the process ends;"
    " with Mul for the square, without the scale, with one division, where the sum is with an"
    " input, and where a MatMul reads the norm they are equal",
)
def residual_of_a_norm(node: NodeView, target: Target) -> Answer:
    """RKNN misreads the sum of a scaled RMSNorm that is written out and a computed tensor."""
    x, exponent, reader = node.input(0), node.need(1).array(), node
    if exponent is None or exponent.size != 1 or exponent.item() != _SQUARE:
        return False
    for op in ("ReduceMean", "Add", "Sqrt", "Div", "Mul", "Mul"):
        before, after = reader.output(0), only_reader(reader.output(0), op)
        if after is None or (op == "Div" and after.input(1) != before):
            return False
        if op == "Mul" and reader.op == "Div" and x not in after.inputs:
            return False
        reader = after
    scaled = reader.output(0)
    if scaled is None or all(value is None or value.array() is None for value in reader.inputs):
        return False
    sums = [other for other in scaled.consumers if other.op == "Add"]
    others = [value for each in sums for value in each.inputs if value != scaled]
    return any(value is not None and value.producer is not None for value in others)
