"""OpenVINO: constants without elements, which it reads as vectors, or as scalars.

What is computed of them alone by operators that follow the shape of their input is a vector then,
too. Where that is what a branch of an If gives, the branches seem to differ in rank; a body of Loop
that appends to it cannot be read.
"""

from __future__ import annotations

from graphfix.analysis.shape_only_values import of_shapes_alone
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, rule
from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import ELEMENTWISE

_ASKED = "asked of 2026.4.1: facts/asked.json, branches-empty and branches-empty-vector"
_BY_ITS_FIRST = frozenset({"Cast", "Identity", "Reshape", "Transpose"})
_MOST = 100  # tensors that are looked at


def is_read_as_vector(value: Value) -> bool:
    """Say whether a tensor without elements follows from constants that have none alone."""
    if 0 not in (value.static_shape or ()):
        return False
    pending, seen = [value], {value}
    while pending:
        one = pending.pop()
        maker = one.producer
        if one.is_constant:
            if 0 not in (one.static_shape or ()):
                return False
            continue
        if maker is None or len(seen) > _MOST:
            return False
        if maker.op in _BY_ITS_FIRST:
            given = [maker.need(0)]
        elif maker.op == "Concat" or maker.op in ELEMENTWISE:
            given = [operand for operand in maker.inputs if operand is not None]
        else:
            return False
        pending += [operand for operand in given if operand not in seen]
        seen.update(given)
    return True


def _branches(node: NodeView) -> list[tuple[Value, Value]]:
    if of_shapes_alone(node.need(0)):
        return []  # which it folds
    then, other = (node.attr(name).outputs for name in ("then_branch", "else_branch"))
    return list(zip(map(Value, then), map(Value, other), strict=False))


@rule(
    "If",
    feature="form:If.empty-constant",
    versions="openvino2026.4..",
    severity=REJECT,
    text="CPU plug-in doesn't support If operation with dynamic rank",
    source=f"node.cpp:108 of the CPU plugin (2026.4.1), as its refusal says; {_ASKED}",
)
def branch_of_an_empty_constant(node: NodeView, target: Target) -> Answer:
    """OpenVINO reads an empty constant that a branch of If returns as a vector."""
    return any(
        is_read_as_vector(one) != is_read_as_vector(two)
        and (two if is_read_as_vector(one) else one).rank not in (None, 0, 1)
        for one, two in _branches(node)
    )


@rule(
    "If",
    feature="form:If.empty-constant",
    versions="openvino2026.4..",
    severity=WRONG,
    source=_ASKED,
)
def branches_of_empty_constants(node: NodeView, target: Target) -> Answer:
    """OpenVINO returns one 0 where both branches of If return empty constants."""
    return any(is_read_as_vector(one) and is_read_as_vector(two) for one, two in _branches(node))


@rule(
    "Loop",
    feature="form:Loop.empty-constant",
    versions="openvino2026.4..",
    severity=REJECT,
    text="Accessing out-of-range dimension",
    source="shape_util.cpp:66 (2026.4.1), as its refusal says where the body appends to it; where "
    "it computes each element the result is a number; measured of float and int64, rank 1 to 3: "
    "ConstantOfShape, Expand and Slice in place of the constant are right",
)
def state_of_an_empty_constant(node: NodeView, target: Target) -> Answer:
    """OpenVINO reads an empty constant that Loop begins with as a scalar."""
    states = [state for state in node.inputs[2:] if state is not None]
    return any(is_read_as_vector(state) for state in states)
