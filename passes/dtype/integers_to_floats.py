"""Compute in float32 what is between nodes as int32 and int64.

What it does: All nodes that pass such tensors to each other are written in float32, constants
    included. A quotient is rounded, and set right by what is left over; a remainder is what is left
    over then; what comes from floats is cut off. Where a product may be -0, which integers do not
    have, its opposite is taken off 0. The place of a largest or smallest number is the largest of
    those that count down from the size of the axis where a number is that one.
Why engines need it: ncnn has one type of numbers: what reads integers there reads their bits as
    floats.
Before:
    s = ReduceSum (Cast <to = 7> (mask))        # int64; mask: bool[3,4]
    y = Greater (s, 0)
After:
    s = ReduceSum (Cast <to = 1> (mask))
    y = Greater (s, 0.0)
When it refuses: One of the nodes is none that is listed here, or reads computed integers as places
    or sizes: then all that are connected with it stay as they are, and the refusal names it.
    integers-to-float32 refuses as well where the graph does not show that a number stays below
    2^24, or is one that was cut off of a float32 as int64, and only moved, compared or cast since;
    large-integers-to-float32 does it all the same, with --allow-lossy.
Accuracy: Exact where every number is shown to be below 2^24: float32 holds all of these, their
    quotients are off by less than one before they are set right, and nothing wraps around. What is
    cut off of a float32 is a float32, too. Places of infinities and of NaN are not claimed. Lossy
    where that is not shown: numbers from 2^24 on are rounded to 24 bits.
References: measured on ncnn 1.0.20261020 and pnnx 20261020;
    https://onnx.ai/onnx/operators/onnx__Mod.html
"""

from functools import partial

import numpy as np
from onnx import TensorProto

from graphfix.analysis.folding.whole_ranges import WholeRanges
from graphfix.authoring import (
    COMPARISONS,
    LOSSY,
    MOVES_FIRST,
    Builder,
    Editor,
    NodeView,
    Value,
    form_of,
    graph_pass,
    type_name,
)

from ._integers import MOVES, SUMS, WRAPPING
from ._retyping import Operands, Retyping, filled, retype, unchanged, unhandled
from ._wholes import divided, left_over, product, rest_of

_TYPES = (TensorProto.INT32, TensorProto.INT64)
_NARROW = frozenset(map(int, _TYPES))
_FLOAT = int(TensorProto.FLOAT)
_LIMIT = 1 << 24  # from here on float32 leaves integers out
_SIGN = 9  # the opset that has it first
_EQUAL = 11  # the opset from which on it takes floats
_COMPUTING = (*WRAPPING, *SUMS, "Sign", "Sum")
_PLACES = ("ArgMax", "ArgMin")
_DIVIDING = ("Div", "Mod")
_SHORT_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16)
_CHOOSING = {"Concat": 0, "Max": 0, "Min": 0, "Pad": 0, "Where": 1}  # from where on elements are
_FAR = 64  # nodes that are looked at
_MOVING = tuple(op for op in MOVES if op != "TopK")  # its places are integers, whatever it reads
_LISTED = frozenset(
    (*_COMPUTING, *_MOVING, *_PLACES, *COMPARISONS, "Cast", "ConstantOfShape", "Mod")
)
_EMITS = (
    *("Cast", "ConstantOfShape", "Floor", "Identity", "Max", "Not", "ReduceMax", "ReduceMin"),
    "Relu",
    *(*_COMPUTING, *_MOVING, *sorted(COMPARISONS)),
)
_REMOVES = (
    *(f for kind in _TYPES for f in (f"dtype:{type_name(kind)}", f"dtype:Cast.{kind}")),
    *(f"op:{op}" for op in _PLACES),
)


@graph_pass(removes=_REMOVES, emits=_EMITS, last_resort=True)
def integers_to_float32(editor: Editor) -> None:
    """Look at all that integers connect, where they are shown to be below 2^24."""
    _compute_in_floats(editor, proved=True)


@graph_pass(removes=_REMOVES, emits=_EMITS, last_resort=True, accuracy=LOSSY)
def large_integers_to_float32(editor: Editor) -> None:
    """Look at all that integers connect, whatever their size."""
    _compute_in_floats(editor, proved=False)


def _compute_in_floats(editor: Editor, *, proved: bool) -> None:
    ranges = WholeRanges()
    retype(
        editor,
        Retyping(
            narrow=_NARROW,
            wide=_FLOAT,
            refused=partial(_refused, ranges, proved),
            forms={
                **dict.fromkeys(_PLACES, _place),
                "Cast": _cast,
                "ConstantOfShape": filled(_FLOAT),
                "Div": _quotient,
                "Equal": _equal,
                "Mod": _remainder,
                "Mul": partial(_product, ranges),
                "Neg": _opposite,
            },
            wrapped=lambda view, result, elem_type, build: result,
            constant=lambda array: array.astype(np.float32),
            rounds=lambda view: not proved,
            inexact=LOSSY,
            said="integers beyond 2^24 are rounded",
            kept=_kept,
            unproved=True,  # alone, a place gets numbers of any size
        ),
    )


def _kept(view: NodeView) -> frozenset[int]:
    """Return the places of operands that are sizes, axes or places, and not the numbers."""
    form = form_of(view.op, view.opset, view.domain)
    if form is None or view.op == "ConstantOfShape":
        return frozenset({0})
    kinds = [formal.type_str for formal in form.schema.inputs]
    given = form.schema.outputs[0].type_str
    main = given if given in kinds else kinds[0]
    last = len(kinds) - 1
    return frozenset(p for p in range(len(view.inputs)) if kinds[min(p, last)] != main)


def _refused(ranges: WholeRanges, proved: bool, view: NodeView) -> str:
    if view.domain or view.op not in _LISTED or view.opset < _SIGN:
        return unhandled(view, _NARROW)
    if view.attr("reduction", "none") != "none":
        return unhandled(view, _NARROW, f"{view.op} with a reduction")
    kept = _kept(view)
    for place, value in enumerate(view.inputs):
        computed = value is not None and value.elem_type in _NARROW and not value.is_constant
        if value is not None and computed and place in kept:
            return f"{view.op} reads {value.name} as places or sizes"
    if view.op == "Cast" and (reason := _not_to_cast(ranges, view)):
        return reason
    values = [v for p, v in enumerate(view.inputs) if p not in kept or (v and not v.is_constant)]
    if view.op in _PLACES and (reason := _not_to_place(view)):
        return reason
    held = _is_small if view.op in _DIVIDING else _is_held
    for value in (*values, *view.outputs) if proved else ():
        if value is not None and value.elem_type in _NARROW and not held(ranges, value):
            return f"{value.name} must be shown to be below 2^24; it may be larger"
    if proved and view.op == "Sum" and not _is_small_on_the_way(ranges, view):
        return "what a Sum adds up on the way must be shown to be below 2^24; it may be larger"
    return ""


def _is_small(ranges: WholeRanges, value: Value) -> bool:
    found = ranges.of(value)
    return found is not None and found[0] > -_LIMIT and found[1] < _LIMIT


def _is_held(ranges: WholeRanges, value: Value) -> bool:
    """Say whether float32 holds every element: a small number, or what is cut off of a float32."""
    pending, seen = [value], {value}
    while pending:
        each = pending.pop()
        if _is_small(ranges, each):
            continue
        maker = each.producer
        before = None if maker is None else _moved(maker)
        if before is None or len(seen) > _FAR:
            return False
        pending += [operand for operand in before if operand not in seen]
        seen.update(before)
    return True


def _moved(maker: NodeView) -> list[Value] | None:
    """Return what the elements of a result are among; None where it is not known.

    What is cut off of a float32 is among none.
    """
    operands = [operand for operand in maker.inputs if operand is not None]
    if maker.op == "Cast":
        result = maker.output(0)  # what int32 does not hold may are as any number
        wide = result is not None and result.elem_type == TensorProto.INT64
        return [] if wide and operands[0].elem_type in _SHORT_FLOATS else None
    if maker.op in _CHOOSING:
        return operands[_CHOOSING[maker.op] :]
    extreme = maker.op in ("ReduceMax", "ReduceMin") and 0 not in (operands[0].static_shape or [0])
    return operands[:1] if extreme or maker.op in MOVES_FIRST else None


def _is_small_on_the_way(ranges: WholeRanges, view: NodeView) -> bool:
    found = [ranges.of(value) for value in view.inputs]
    return sum(max(-each[0], each[1]) for each in found if each is not None) < _LIMIT


def _not_to_cast(ranges: WholeRanges, view: NodeView) -> str:
    """Say why a Cast to a short or unsigned type cannot come from floats; empty where it can."""
    source, result = view.need(0), view.output(0)
    dtype = None if result is None else result.dtype
    if dtype is None or source.elem_type not in _NARROW or dtype.kind not in "iu":
        return ""
    if result is None or result.elem_type in _NARROW:
        return ""
    found, limits = ranges.of(source), np.iinfo(dtype)
    if found is not None and limits.min <= found[0] and found[1] <= limits.max:
        return ""
    return f"{source.name} may wrap around as {result.type_name}"


def _not_to_place(view: NodeView) -> str:
    """Say why the place of an extreme cannot be counted; empty where it can."""
    x = view.need(0)
    if x.elem_type not in (*_NARROW, _FLOAT):
        return f"{view.op} must read float32; it reads {x.type_name or 'an unknown type'}"
    size = None if not x.rank else x.dim(int(view.attr("axis", 0)))
    if not size or size >= _LIMIT:
        return f"the size of {x.name} along the axis of {view.op} must be known, and below 2^24"
    return ""


def _place(view: NodeView, operands: Operands, build: Builder) -> tuple[Value, ...]:
    """Write the place of the first or last extreme of an axis."""
    (x,) = operands
    assert x is not None
    assert x.rank is not None
    axis = int(view.attr("axis", 0)) % x.rank
    size = x.dim(axis)
    assert size is not None
    extreme = build.ReduceMax if view.op == "ArgMax" else build.ReduceMin
    apart = build.Abs(build.Sign(build.Sub(x, extreme(x, axes=[axis], keepdims=1))))
    counted = np.arange(1, size + 1, dtype=np.float32)
    last = bool(view.attr("select_last_index", 0))
    shape = [size if i == axis else 1 for i in range(x.rank)]
    numbers = build.constant((counted if last else counted[::-1]).reshape(shape))
    scores = build.Mul(build.Sub(1.0, apart), numbers)
    best = build.ReduceMax(scores, axes=[axis], keepdims=int(view.attr("keepdims", 1)))
    return (build.Sub(best, 1.0) if last else build.Sub(float(size), best),)


def _cast(view: NodeView, operands: Operands, build: Builder) -> tuple[Value, ...]:
    data, result = operands[0], view.output(0)
    assert data is not None
    assert result is not None
    source = view.need(0)
    if source.elem_type in _NARROW:
        to = _FLOAT if result.elem_type in _NARROW else result.elem_type
        return (build.Identity(data) if to == _FLOAT else build.Cast(data, to=to),)
    if data.elem_type != _FLOAT:
        data = build.Cast(data, to=_FLOAT)
    if source.dtype is None or source.dtype.kind in "biu":
        return (data,)
    return (product(build, build.Sign(data), build.Floor(build.Abs(data))),)


def _opposite(view: NodeView, operands: Operands, build: Builder) -> tuple[Value, ...]:
    (data,) = operands
    assert data is not None
    return (build.Sub(0.0, data),)


def _product(
    ranges: WholeRanges, view: NodeView, operands: Operands, build: Builder
) -> tuple[Value, ...]:
    found = [ranges.of(value) for value in view.inputs]
    if all(each is not None and each[0] >= 0 for each in found):
        return unchanged(view, operands, build)
    return (product(build, *_both(operands)),)


def _quotient(view: NodeView, operands: Operands, build: Builder) -> tuple[Value, ...]:
    first, second = _both(operands)
    sign = build.Mul(build.Sign(first), build.Sign(second))
    whole = divided(build, build.Abs(first), build.Abs(second))
    return (product(build, sign, whole),)


def _remainder(view: NodeView, operands: Operands, build: Builder) -> tuple[Value, ...]:
    first, second = _both(operands)
    over, under = build.Abs(first), build.Abs(second)
    rest = left_over(build, over, under)
    if view.attr("fmod", 0):
        return (product(build, build.Sign(first), rest),)
    return (rest_of(build, first, second, rest),)


def _equal(view: NodeView, operands: Operands, build: Builder) -> tuple[Value, ...]:
    if view.opset >= _EQUAL:
        return unchanged(view, operands, build)
    return (build.Not(build.Cast(build.Sub(*_both(operands)), to=TensorProto.BOOL)),)


def _both(operands: Operands) -> tuple[Value, Value]:
    first, second = operands
    assert first is not None
    assert second is not None
    return first, second
