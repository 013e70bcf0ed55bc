"""Compute with the floats 0 and 1 what is between nodes as bools.

What it does: All nodes that pass bools to each other are written in float32: x < y is the positive
    part of the sign of y - x, And a product, Or a maximum, Xor the amount of a difference, Not what
    is left of 1, and Where the sum of both choices, each times 0 or 1. A quotient that is chosen
    only where its divisor is not 0 is divided by 1 there. Bools are moved as floats, and inputs and
    outputs of the model keep their type.
Why engines need it: ncnn has one type of numbers and no comparisons: "layer torch.lt, torch.where
    not exists or registered".
Before:
    c = Less (x, y)
    z = Where (c, x, 0.5)
After:
    c = Relu (Sign (Sub (y, x)))
    z = Add (Mul (c, x), Mul (Sub (1, c), 0.5))
When it refuses: One of the nodes is none that is listed here, or compares or chooses other values
    than float32: then all that are connected with it stay as they are, and the refusal names it. A
    constant that is compared or chosen is not finite; a tensor is compared with itself; what is
    chosen is computed by an operator that gives infinities or NaN for some numbers, which times 0
    are not 0.
Accuracy: Exact for numbers; a zero may come with the other sign. NaN and infinities are compared
    otherwise and are not claimed. Where what is chosen is computed, a sum or a product that grows
    beyond float32 where it is not chosen gives NaN, and the note of the place says so.
References: measured on ncnn 1.0.20261020 and pnnx 20261020
    https://onnx.ai/onnx/operators/onnx__Where.html
"""

from collections.abc import Set
from functools import partial

import numpy as np
from onnx import TensorProto

from graphfix.authoring import COMPARISONS, EXACT, Builder, Editor, NodeView, Value, graph_pass

from ._integers import MOVES
from ._retyping import Operands, Retyping, filled, retype, unhandled
from ._signs import gives_nan_alike, leak

_NARROW = frozenset({TensorProto.BOOL})
_COMPARING = tuple(sorted(COMPARISONS))
_LOGIC = ("And", "Not", "Or", "Xor")
_FORMED = (*_COMPARING, *_LOGIC, "Cast", "ConstantOfShape", "Where")
_MOVING = tuple(op for op in MOVES if op not in _FORMED)
_BOUNDED = "given that nothing overflows where it is not chosen"
_BROADCASTING = 7  # the opset from which on operands of another rank have no axis


@graph_pass(
    removes=(
        *(f"op:{op}" for op in (*_COMPARING, *_LOGIC, "Where")),
        *(f"dtype:{op}.bool" for op in (*_MOVING, *_FORMED)),
        f"dtype:Cast.{TensorProto.BOOL}",
    ),
    emits=(
        *("Abs", "Add", "Cast", "ConstantOfShape", "Div", "Identity", "Max", "Mul", "Relu"),
        *("Sign", "Sub"),
        *_MOVING,
    ),
    last_resort=True,  # a cast of one node is less, where the engine has integers
)
def bools_to_floats(editor: Editor) -> None:
    """Look at all that bools connect, see the module."""
    choices = [view for graph in editor.graphs() for view in editor.nodes(graph, "Where")]
    guarded = frozenset(id(view.node) for view in choices if _is_guarded(view))
    retype(
        editor,
        Retyping(
            narrow=_NARROW,
            wide=TensorProto.FLOAT,
            refused=partial(_refused, guarded),
            forms={
                **dict.fromkeys(_COMPARING, _compared),
                **dict.fromkeys(_LOGIC, _combined),
                "Cast": _cast,
                "ConstantOfShape": filled(TensorProto.FLOAT),
                "Where": partial(_chosen, guarded),
            },
            wrapped=lambda view, result, elem_type, build: result,
            constant=lambda array: array.astype(np.float32),
            unproved=True,  # alone, a place gets numbers that are neither 0 nor 1
        ),
    )


def _refused(guarded: Set[int], view: NodeView) -> str:
    if view.domain or view.op not in (*_FORMED, *_MOVING) or view.opset < _BROADCASTING:
        return unhandled(view, _NARROW)
    if view.op in ("ReduceMax", "ReduceMin") and 0 in (view.need(0).shape or ()):
        return f"{view.op} of no bools would give an infinity"
    if view.op in _COMPARING:
        return _not_comparable(view)
    return _not_to_choose(view, id(view.node) in guarded) if view.op == "Where" else ""


def _not_comparable(view: NodeView) -> str:
    if view.need(0) == view.need(1):
        return f"{view.op} compares {view.need(0).name} with itself, which tells NaN"
    return _not_finite(view.need(0)) or _not_finite(view.need(1))


def _not_to_choose(view: NodeView, is_guarded: bool) -> str:
    for place in (1, 2):
        value = view.need(place)
        reason = _not_finite(value)
        if reason:
            return reason
        if not value.is_constant and not (is_guarded and place == 2):
            before = leak(value)
            if before is not None and not gives_nan_alike(view.need(1), view.need(2)):
                return f"{before.op} may give infinities or NaN where they are not chosen"
    return ""


def _not_finite(value: Value) -> str:
    if value.elem_type in _NARROW:
        return ""
    if value.elem_type != TensorProto.FLOAT:
        return f"{value.name} must be float32; it is {value.type_name}"
    known = value.array()
    return "" if known is None or np.isfinite(known).all() else f"{value.name} is not finite"


def _is_guarded(view: NodeView) -> bool:
    """Say whether the third operand is a quotient that is chosen where its divisor is not 0.

    Nothing that leaks may be before it.
    """
    condition, quotient = view.need(0).producer, view.need(2).producer
    if condition is None or quotient is None:
        return False
    if condition.op != "Equal" or quotient.op != "Div" or condition.need(0) != quotient.need(1):
        return False
    zero = condition.need(1).array()
    clean = all(leak(operand) is None for operand in quotient.inputs if operand is not None)
    return zero is not None and not zero.any() and clean


def _compared(view: NodeView, operands: Operands, build: Builder) -> tuple[Value, ...]:
    first, second = operands
    if view.op in ("Greater", "LessOrEqual"):
        first, second = second, first
    sign = build.Sign(build.Sub(second, first))
    if view.op == "Equal":
        return (build.Sub(1.0, build.Abs(sign)),)
    above = build.Relu(sign)
    return (above if view.op in ("Greater", "Less") else build.Sub(1.0, above),)


def _combined(view: NodeView, operands: Operands, build: Builder) -> tuple[Value, ...]:
    if view.op == "Not":
        return (build.Sub(1.0, operands[0]),)
    if view.op == "Xor":
        return (build.Abs(build.Sub(*operands)),)
    return (build.Mul(*operands) if view.op == "And" else build.Max(*operands),)


def _cast(view: NodeView, operands: Operands, build: Builder) -> tuple[Value, ...]:
    (data,) = operands
    result = view.output(0)
    assert data is not None
    assert result is not None
    target = TensorProto.FLOAT if result.elem_type in _NARROW else result.elem_type
    asked = result.elem_type in _NARROW and view.need(0).elem_type not in _NARROW
    if asked and data.elem_type == TensorProto.DOUBLE:
        data = build.Sign(data)  # float32 takes numbers of float64 next to 0 for 0
    if data.elem_type != TensorProto.FLOAT or target != TensorProto.FLOAT:
        data = build.Cast(data, to=target)
    if asked:
        return (build.Abs(build.Sign(data)),)
    return (data if data is not operands[0] else build.Identity(data),)


def _chosen(
    guarded: Set[int], view: NodeView, operands: Operands, build: Builder
) -> tuple[Value, ...]:
    condition, one, other = operands
    choices = [view.need(place) for place in (1, 2)]
    if any(each.producer is not None and not each.is_constant for each in choices):
        build.declare(EXACT, _BOUNDED)
    if id(view.node) in guarded:
        quotient = view.need(2).producer
        assert quotient is not None
        other = build.Div(quotient.need(0), build.Add(quotient.need(1), condition))
    return (build.Add(build.Mul(condition, one), build.Mul(build.Sub(1.0, condition), other)),)
