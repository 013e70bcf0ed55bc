"""TVM: what is left of sizes after a Slice whose bounds are computed."""

from __future__ import annotations

from collections.abc import Generator

from graphfix.analysis.memo import kept_stepwise, operands
from graphfix.analysis.shape_only_values import of_shapes_alone
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, rule
from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import ELEMENTWISE, REDUCTIONS

_BOUNDS = (1, 2)  # inputs of Slice
_KEEPS = frozenset({
    *ELEMENTWISE, *REDUCTIONS, "Concat", "Identity", "LogSoftmax", "MatMul", "Slice", "Softmax",
    "Squeeze", "Transpose", "Unsqueeze",
})  # fmt: skip


@rule(
    "Reshape",
    feature="shape:Reshape.inferred",
    severity=REJECT,
    text="Reshape expects the input tensor to have known shape when there is some dimension length "
    "to infer. However, the given input has no shape.",
    source="measured on apache-tvm 0.27.0.post1: facts/asked.json, sliced-reshape",
)
def size_inferred_behind_a_slice(node: NodeView, target: Target) -> Answer:
    """TVM cannot infer a size of Reshape after a Slice with computed bounds."""
    return _infers(node) and _sliced_late(node.need(0)) is not None


@rule(
    ("Concat", *sorted(ELEMENTWISE)),
    feature="shape:{op}.sliced",
    severity=REJECT,
    text="CodeGenVM cannot emit this Relax operator directly.",
    source="measured on apache-tvm 0.27.0.post1: facts/asked.json, sliced-meets",
)
def sliced_meets_another(node: NodeView, target: Target) -> Answer:
    """TVM cannot combine a Slice with computed bounds with a tensor of another size."""
    given = dict.fromkeys(value for value in node.inputs if value is not None and value.rank != 0)
    if len(given) == 1:
        return None
    origins = {_sliced_late(value) for value in given}
    return len(origins) > 1


def _infers(node: NodeView) -> bool:
    given = node.input(1)
    shape = None if given is None else given.array()
    return shape is not None and bool((shape <= 0).any())


@kept_stepwise(in_a_loop=None)
def _sliced_late(value: Value) -> Generator[Value, Value | None, Value | None]:
    """Return what a Slice of computed bounds gives that is after a value; None for none.

    The importer does not know the shape of what comes of it.
    """
    maker = value.producer
    if maker is None or maker.domain or maker.op not in _KEEPS:
        return None
    bounds = [maker.input(place) for place in _BOUNDS] if maker.op == "Slice" else []
    if any(bound is not None and not of_shapes_alone(bound) for bound in bounds):
        return value
    for operand in reversed(operands(maker)):
        found = yield operand
        if found is not None:
            return found
    return None
