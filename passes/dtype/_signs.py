"""Tensors whose numbers have a known sign, as far as the graph tells, and operators that leak."""

import numpy as np

from graphfix.analysis.folding.lower_bounds import not_negative
from graphfix.authoring import MOVES_FIRST, NodeView, Value

# What gives infinities or NaN for finite numbers.
_LEAKING = frozenset(
    {
        *("Acos", "Acosh", "Asin", "Atanh", "Cosh", "Div", "Exp", "Log", "Pow", "Reciprocal"),
        *("ReduceLogSum", "ReduceLogSumExp", "Sinh", "Sqrt", "Tan"),
    }
)
_KEEPING = MOVES_FIRST | {"ReduceMax", "ReduceMin", "ReduceMean"}
_LIMITING = frozenset({"Atan", "Erf", "Sigmoid", "Tanh"})
_PASSING = frozenset({"Add", "Mul", "Neg", "Sub"})
_FAR = 64  # nodes that are looked at
_DEEP = 12  # operators one after the other whose sign is asked


def leak(value: Value) -> NodeView | None:
    """Return a node before a tensor that may give infinities or NaN for finite numbers.

    Sums and products that grow beyond what the type reaches are not counted.
    """
    pending, seen = [value], {value}
    while pending and len(seen) <= _FAR:
        maker = pending.pop().producer
        if maker is None:
            continue
        if maker.op in _LEAKING and not _is_held(maker):
            return maker
        before = {operand for operand in maker.inputs if operand is not None} - seen
        seen |= before
        pending += before
    return None


def gives_nan_alike(one: Value, other: Value) -> bool:
    """Say whether what leaks before two tensors gives both NaN at the same places, and no infinity.

    Between a quotient and both of them is one node that makes numbers of infinities, and what adds
    to it, multiplies or chooses among such tensors: NaN is the output of all of these.
    """
    first, second = _sources(one), _sources(other)
    return bool(first) and first == second


def _sources(value: Value, depth: int = _DEEP) -> frozenset[Value] | None:
    """Return the limited quotients that a tensor is NaN with; None where more may leak."""
    known_numbers = value.array()
    if known_numbers is not None and not np.isfinite(known_numbers).all():
        return None
    if leak(value) is None:
        return frozenset()
    maker = value.producer
    if maker is None or not depth:
        return None
    if maker.op in _LIMITING:
        quotient = maker.need(0).producer
        if quotient is None or quotient.op != "Div" or any(map(leak, _operands(quotient))):
            return None
        return frozenset({value})
    if maker.op == "Where":
        return _sources(maker.need(1), depth - 1) if _chooses_alike(maker) else None
    if maker.op not in _PASSING:
        return None
    found = [_sources(operand, depth - 1) for operand in _operands(maker)]
    known = [each for each in found if each is not None]
    none: frozenset[Value] = frozenset()
    return None if len(known) < len(found) else none.union(*known)


def _chooses_alike(maker: NodeView) -> bool:
    return gives_nan_alike(maker.need(1), maker.need(2))


def _operands(maker: NodeView) -> list[Value]:
    return [operand for operand in maker.inputs if operand is not None]


def _is_held(maker: NodeView) -> bool:
    """Say whether what an operator reads keeps it from leaking."""
    if maker.op in ("Log", "Reciprocal"):
        return _is_positive(maker.need(0))
    if maker.op == "Sqrt":
        return not_negative(maker.need(0))
    if maker.op == "Div":
        divisor = maker.need(1).array()
        return bool(divisor.all()) if divisor is not None else _is_positive(maker.need(1))
    return maker.op == "Pow" and _is_square(maker)


def _is_square(maker: NodeView) -> bool:
    exponent = maker.need(1).array()
    return exponent is not None and bool((exponent == 2).all())


def _is_positive(value: Value, depth: int = _DEEP) -> bool:
    known = value.array()
    if known is not None:
        return bool((known > 0).all())
    maker = value.producer
    if maker is None or not depth:
        return False
    operands = _operands(maker)
    if maker.op == "Add":
        some = any(_is_positive(operand, depth - 1) for operand in operands)
        return some and all(not_negative(operand) for operand in operands)
    if maker.op == "Max":
        return any(_is_positive(operand, depth - 1) for operand in operands)
    return maker.op in (*_KEEPING, "ReduceSum", "Sqrt") and _is_positive(operands[0], depth - 1)
