"""Tensors whose numbers have a known sign, as far as the graph tells, and operators that leak."""

from __future__ import annotations

from graphfix.authoring import MOVES_FIRST, NodeView, Value, not_negative

# What gives infinities or NaN for finite numbers.
_LEAKING = frozenset(
    {
        *("Acos", "Acosh", "Asin", "Atanh", "Cosh", "Div", "Exp", "Log", "Pow", "Reciprocal"),
        *("ReduceLogSum", "ReduceLogSumExp", "Sinh", "Sqrt", "Tan"),
    }
)
_KEEPING = MOVES_FIRST | {"ReduceMax", "ReduceMin", "ReduceMean"}
_FAR = 64  # nodes that are looked at
_DEEP = 12  # operators one behind the other whose sign is asked


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
    operands = [operand for operand in maker.inputs if operand is not None]
    if maker.op == "Add":
        some = any(_is_positive(operand, depth - 1) for operand in operands)
        return some and all(not_negative(operand) for operand in operands)
    if maker.op == "Max":
        return any(_is_positive(operand, depth - 1) for operand in operands)
    return maker.op in (*_KEEPING, "ReduceSum", "Sqrt") and _is_positive(operands[0], depth - 1)
