"""Integers of a narrow type computed in a wider one: what keeps its range and what wraps around."""

from math import prod

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    COMPARISONS,
    GIVES_ELEMENTS,
    MOST_TERMS,
    Builder,
    NodeView,
    Value,
    in_halves,
)

from ._retyping import Operands, Written, filled, unchanged, unhandled, with_type

# Operators that give elements that they got; engines pool and rectify floats alone.
MOVES = tuple(sorted(GIVES_ELEMENTS - {"MaxPool", "Relu", "Unique"}))
WRAPPING = ("Abs", "Add", "Div", "Mul", "Neg", "Sub")
SUMS = ("CumSum", "ReduceSum")
KEEPING = ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "Mod", "Sign")
# Operators that give another type.
ENDS = (*sorted({"ArgMax", "ArgMin", *COMPARISONS}), *("NonZero", "Shape", "Size"))
FORMED = ("Cast", "CastLike", "ConstantOfShape", "EyeLike", "MaxPool", "Resize")
_UNSIGNED = frozenset({int(TensorProto.UINT8), int(TensorProto.UINT16), int(TensorProto.UINT32)})
_BYTES: dict[int, int] = {
    TensorProto.UINT8: 1,
    TensorProto.UINT16: 2,
    TensorProto.INT16: 2,
    TensorProto.UINT32: 4,
}


def refused(view: NodeView, narrow: frozenset[int], taken: tuple[str, ...]) -> str:
    """Return why a node cannot be computed on wider integers; empty where it can."""
    if view.domain or view.op not in (*taken, *FORMED):
        return unhandled(view, narrow)
    if view.attr("reduction", "none") != "none":
        return unhandled(view, narrow, f"{view.op} with a reduction")
    if view.op == "MaxPool" and (len(view.outputs) > 1 or view.attr("ceil_mode", 0)):
        return unhandled(view, narrow, "MaxPool with indices or windows outside of the data")
    if view.op == "Resize" and not (samples_linearly(view) or takes_nearest(view)):
        return unhandled(view, narrow, "Resize with integer weights or beyond the range")
    return ""


def takes_nearest(view: NodeView) -> bool:
    """Say whether a Resize gives elements that it got."""
    return bool(view.attr("mode", "nearest") == "nearest")


def samples_linearly(view: NodeView) -> bool:
    """Say whether a Resize takes means of neighbours, and cuts off their fractions.

    onnxruntime does so for all integers; with antialias it has integer weights, and rounds.
    """
    return bool(
        view.op == "Resize"
        and view.attr("mode", "nearest") == "linear"
        and not view.attr("antialias", 0)
        and float(view.attr("extrapolation_value", 0)).is_integer()
    )


def forms(narrow: frozenset[int], wide: int) -> dict[str, Written]:
    """Return how the operators of `FORMED` are written where `wide` integers stand for `narrow`."""

    def cast(view: NodeView, operands: Operands, build: Builder) -> tuple[Value, ...]:
        result = view.output(0)
        assert result is not None
        target = wide if result.elem_type in narrow else result.elem_type
        return (build.Cast(operands[0], to=target),)

    return {
        "Cast": cast,
        "CastLike": cast,
        "ConstantOfShape": filled(wide),
        "EyeLike": with_type("dtype", narrow, wide),
        "MaxPool": _pooled(wide),
        "Resize": _resized(wide),
        "Sign": _signs(wide),
    }


def resized_in_float(view: NodeView, operands: Operands, kind: int, build: Builder) -> Value:
    """Write a Resize of `operands` in float32, and cut its result off to integers of `kind`."""
    data = build.Cast(operands[0], to=TensorProto.FLOAT)
    (result,) = unchanged(view, [data, *operands[1:]], build)
    return build.Cast(result, to=kind)


def _resized(wide: int) -> Written:
    def write(view: NodeView, operands: Operands, build: Builder) -> tuple[Value, ...]:
        if takes_nearest(view):
            return unchanged(view, operands, build)
        return (resized_in_float(view, operands, wide, build),)

    return write


def summed(view: NodeView, operands: Operands, build: Builder) -> tuple[Value, ...]:
    """Write a ReduceSum of integers of 32 bits in int64.

    onnxruntime adds integers through float64, which does not hold the sum of too many of them.
    """
    (data, *axes) = operands
    assert data is not None
    sizes = data.static_shape
    if sizes is not None and prod(sizes) <= MOST_TERMS:
        return unchanged(view, operands, build)
    return (in_halves(data, lambda x: unchanged(view, [x, *axes], build)[0], build),)


def _signs(wide: int) -> Written:
    def write(view: NodeView, operands: Operands, build: Builder) -> tuple[Value, ...]:
        if view.need(0).elem_type not in _UNSIGNED:
            return unchanged(view, operands, build)
        return (build.Cast(build.Cast(operands[0], to=TensorProto.BOOL), to=wide),)

    return write


def by_comparison() -> dict[str, Written]:
    """Return Max, Min and Clip as choices.

    onnxruntime 1.31 takes the wrong one of two int64 where they differ in the upper half alone.
    """

    def extreme(view: NodeView, operands: Operands, build: Builder) -> tuple[Value, ...]:
        return (_extreme(view.op, operands, build),)

    def clip(view: NodeView, operands: Operands, build: Builder) -> tuple[Value, ...]:
        result = _extreme("Max", operands[:2], build)
        return (_extreme("Min", [result, *operands[2:]], build),)

    return {"Max": extreme, "Min": extreme, "Clip": clip}


def _extreme(op: str, operands: Operands, build: Builder) -> Value:
    first, *others = [operand for operand in operands if operand is not None]
    compare = build.Less if op == "Max" else build.Greater
    for other in others:
        first = build.Where(compare(first, other), other, first)
    return first


def _pooled(wide: int) -> Written:
    # Windows slide over floats alone; these hold all numbers of 24 bits.
    def write(view: NodeView, operands: Operands, build: Builder) -> tuple[Value, ...]:
        data = build.Cast(operands[0], to=TensorProto.FLOAT)
        (result,) = unchanged(view, [data], build)
        return (build.Cast(result, to=wide),)

    return write


def wrapped(view: NodeView, result: Value, elem_type: int, build: Builder) -> Value:
    """Take a result modulo the range of a narrow type, where the operator may leave it."""
    if not _leaves(view, elem_type):
        return result
    wide = result.dtype
    assert wide is not None
    bits = 8 * _BYTES[elem_type]
    span = np.asarray(1 << bits, wide)
    if elem_type in _UNSIGNED:
        return build.Mod(result, span)
    half = np.asarray(1 << (bits - 1), wide)
    return build.Sub(build.Mod(build.Add(result, half), span), half)


def _leaves(view: NodeView, elem_type: int) -> bool:
    if view.op in ("Cast", "CastLike"):
        return not _fits(view.need(0).elem_type, elem_type)
    if elem_type in _UNSIGNED and view.op in ("Abs", "Div"):
        return False
    # Nothing is left to do after MaxPool and Resize, whose operands were in range; their proofs
    # have to show that.
    return view.op in (*WRAPPING, *SUMS, "MaxPool") or samples_linearly(view)


def _fits(source: int, target: int) -> bool:
    """Say whether a type holds every number of another one."""
    if source in (TensorProto.BOOL, target):
        return True
    return source == TensorProto.UINT8 or (
        source == TensorProto.UINT16 and target == TensorProto.UINT32
    )
