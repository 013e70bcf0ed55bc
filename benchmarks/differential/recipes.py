"""Recipes: how a node of each operator is added, elementwise operators and reductions here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from benchmarks.differential.scope import (
    BOOL,
    F32,
    FLOATS,
    I32,
    I64,
    NUMBERS,
    U64,
    Array,
    Impossible,
    Known,
    Scope,
)
from graphfix.operators.table import REDUCTIONS

Recipe = Callable[[Scope, str], None]
RECIPES: dict[str, Recipe] = {}
EXTREME = (0, 1, -1, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63))


def recipe(*ops: str) -> Callable[[Recipe], Recipe]:
    """Say which operators a recipe adds."""

    def add(function: Recipe) -> Recipe:
        RECIPES.update(dict.fromkeys(ops, function))
        return function

    return add


def numbers(s: Scope, shape: tuple[int, ...], elem: int, least: int = -4) -> Array:
    """Draw numbers of a type, small ones, with odd ones at times."""
    draw = np.random.default_rng(s.rng.randrange(1 << 30))
    dtype = helper.tensor_dtype_to_np_dtype(elem)
    if elem == TensorProto.STRING:
        return np.array(draw.choice(["", "a", "Bb", "ß"], shape), dtype=object)
    if elem == BOOL:
        return draw.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        values = draw.integers(max(least, 0) if dtype.kind == "u" else least, 6, shape)
        if s.rng.random() < 0.15 and values.size:
            info = np.iinfo(dtype)
            lowest = max(info.min, least) if least > 0 else info.min
            ends = (2**24 + 1, 2**31 - 1, 2**53 + 1, info.max, info.min)
            wide = [v for v in ends if lowest <= v <= info.max]
            out = values.astype(dtype)
            if wide:
                out.reshape(-1)[draw.integers(0, values.size)] = s.rng.choice(wide)
            return out
        return values.astype(dtype)
    floats = np.asarray(draw.normal(size=shape) * s.rng.choice([0.5, 1, 3]))
    return (np.round(floats) if s.rng.random() < 0.3 else floats).astype(dtype)


def other(s: Scope, a: Known, elem: int = 0, least: int = -4) -> str:
    """Return a second operand that broadcasts with a value: itself, another, or a constant."""
    elem = elem or a.elem
    same = [t for t in s.visible() if t.elem == elem and t.dims == a.dims]
    roll = s.rng.random()
    if same and roll < 0.35:
        return s.rng.choice(same).name
    if roll < 0.5 and None not in a.dims and least < 0:
        cut = s.rng.randint(0, a.rank)
        dims = tuple(1 if s.rng.random() < 0.3 else d for d in a.dims[cut:])
        return s.new_input(elem, len(dims), shape=dims).name
    shape = tuple(
        d if isinstance(d, int) and s.rng.random() < 0.6 else 1
        for d in a.dims[s.rng.randint(0, a.rank) :]
    )
    return s.const(numbers(s, shape, elem, least))


def axis_of(s: Scope, t: Known, low: int = 11) -> int:
    """Return an axis, negative ones from an opset on."""
    if not t.rank:
        raise Impossible
    return s.rng.randrange(-t.rank if s.opset >= low else 0, t.rank)


_UNARY = (
    "Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Celu", "Cos", "Cosh", "Elu",
    "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish", "Identity", "IsInf", "IsNaN",
    "LeakyRelu", "Log", "Mish", "Neg", "Not", "Reciprocal", "Relu", "Round", "Selu", "Shrink",
    "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Swish", "Tan", "Tanh",
    "ThresholdedRelu", "BitwiseNot", "NonZero", "Size", "Shape",
)  # fmt: skip


@recipe(*_UNARY)
def unary(s: Scope, op: str) -> None:
    """Add an operator of one input."""
    schema = s.schema(op)
    extra: dict[str, Any] = {}
    for name, attribute in schema.attributes.items():
        if s.rng.random() < 0.4:
            continue
        if attribute.type == attribute.type.FLOAT:
            extra[name] = s.rng.choice([0.3, 2.0, 1.0] if op == "Celu" else [0.0, 0.3, 2.0, -0.5])
        elif attribute.type == attribute.type.INT and op == "Shape":
            extra[name] = s.rng.choice([-9, -2, -1, 0, 1, 2, 9])
        elif attribute.type == attribute.type.INT:
            extra[name] = s.rng.choice([0, 1])
        elif name == "approximate":
            extra[name] = s.rng.choice(["tanh", "none"])
    s.emit(op, [s.pick(s.types_of(op), range(5)).name], **extra)


_BINARY = (
    "Add", "Sub", "Mul", "Div", "Max", "Min", "Mean", "Sum", "And", "Or", "Xor", "Equal", "Greater",
    "GreaterOrEqual", "Less", "LessOrEqual", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "PRelu",
)  # fmt: skip


@recipe(*_BINARY)
def binary(s: Scope, op: str) -> None:
    """Add an operator of two inputs or more that broadcast."""
    a = s.pick(s.types_of(op), range(5))
    pair = [a.name, other(s, a, least=1 if op == "Div" else -4)]
    if s.rng.random() < 0.4 and op not in ("PRelu", "Div"):
        pair.reverse()
    if op in ("Max", "Min", "Mean", "Sum"):
        pair = pair[: s.rng.choice([1, 2])] + [a.name] * s.rng.choice([0, 0, 1])
    s.emit(op, pair)


@recipe("Mod")
def modulo(s: Scope, op: str) -> None:
    """Add a remainder, of integers by what is not 0."""
    a = s.pick(s.types_of(op), range(4))
    whole = a.elem not in (*FLOATS, TensorProto.BFLOAT16)
    b = numbers(s, s.rng.choice([(), (1,)]), a.elem, least=1)
    unsigned = helper.tensor_dtype_to_np_dtype(a.elem).kind == "u"
    if s.rng.random() < 0.5 and not unsigned:
        b = -b
    if whole and not b.all():
        raise Impossible
    divisor = s.param(b, [b + 1] if not unsigned else [], a.elem)
    s.emit(op, [a.name, divisor], fmod=s.rng.choice([None, 0, 1]) if whole else 1)


@recipe("Pow")
def power(s: Scope, op: str) -> None:
    """Add a power, with an exponent of another type from opset 12 on."""
    a = s.pick(s.types_of(op), range(4))
    elem = s.rng.choice([F32, I64, I32, a.elem]) if s.opset >= 12 else a.elem
    value = s.rng.choice([0, 1, 2, 3, 0.5, -1, -2])
    if elem in (I64, I32):
        value = int(value)
    s.emit(op, [a.name, s.param(value, [0, 2, 5], elem)])


@recipe("BitShift")
def shift(s: Scope, op: str) -> None:
    """Add a shift by less than the width."""
    a = s.pick(s.types_of(op), range(4))
    bits = helper.tensor_dtype_to_np_dtype(a.elem).itemsize * 8
    by = s.rng.choice([0, 1, 3, bits - 1])
    s.emit(op, [a.name, s.param(by, [0, 1, bits - 1], a.elem)],
           direction=s.rng.choice(["LEFT", "RIGHT"]))  # fmt: skip


@recipe("Where")
def where(s: Scope, op: str) -> None:
    """Add a choice between two values."""
    a = s.pick(s.types_of(op, 1), range(5))
    condition = other(s, a, BOOL)
    s.emit(op, [condition, *s.rng.sample([a.name, other(s, a)], 2)])


@recipe("Clip")
def clip(s: Scope, op: str) -> None:
    """Add bounds, as attributes or as inputs, one or both, crossed at times."""
    a = s.pick(s.types_of(op), range(5))
    low, high = s.rng.choice([(-1, 2), (0, 6), (1, 1), (3, -3), (0, 1)])
    unsigned = helper.tensor_dtype_to_np_dtype(a.elem).kind == "u"
    low, high = (abs(low), abs(high)) if unsigned else (low, high)
    given = s.rng.choice(["both", "both", "low", "high", "none"])
    if s.opset < 11:
        s.emit(op, [a.name], min=float(low) if given in ("both", "low") else None,
               max=float(high) if given in ("both", "high") else None)  # fmt: skip
        return
    inputs = [a.name, s.param(low, [0], a.elem) if given in ("both", "low") else ""]
    if given in ("both", "high"):
        inputs.append(s.param(high, [0, 9], a.elem))
    s.emit(op, inputs if any(inputs[1:]) else inputs[:1])


@recipe("Cast", "CastLike", "BitCast")
def cast(s: Scope, op: str) -> None:
    """Add a change of type."""
    a = s.pick((*NUMBERS, BOOL), range(5))
    to = s.rng.choice([*NUMBERS, BOOL, I64, I32])
    if op == "CastLike":
        s.emit(op, [a.name, s.pick((to,), range(3)).name])
    else:
        s.emit(op, [a.name], to=to)


@recipe("Softmax", "LogSoftmax", "Hardmax", "LpNormalization")
def softmax(s: Scope, op: str) -> None:
    """Add a normalisation along an axis."""
    a = s.pick(s.types_of(op), range(1, 5))
    extra: dict[str, Any] = {"p": s.rng.choice([None, 1, 2])} if op == "LpNormalization" else {}
    s.emit(op, [a.name], axis=s.rng.choice([None, axis_of(s, a)]), **extra)


@recipe(*REDUCTIONS)
def reduce(s: Scope, op: str) -> None:
    """Add a reduction, with axes in each form."""
    a = s.pick(s.types_of(op), range(5))
    axes = sorted(s.rng.sample(range(a.rank), s.rng.randint(0, a.rank)))
    if s.opset >= 11:
        axes = [x - a.rank if s.rng.random() < 0.3 else x for x in axes]
    keep = s.rng.choice([None, 0, 1])
    if s.opset < (13 if op == "ReduceSum" else 18):
        s.emit(op, [a.name], axes=axes or None, keepdims=keep)
        return
    noop = s.rng.choice([None, 0, 1])
    inputs = [a.name] if s.rng.random() < 0.2 else [a.name, s.param(axes)]
    s.emit(op, inputs, keepdims=keep, noop_with_empty_axes=noop)


@recipe("ArgMax", "ArgMin")
def argmax(s: Scope, op: str) -> None:
    """Add the place of the largest or smallest number; ties are drawn."""
    a = s.pick(s.types_of(op), range(1, 5))
    last = s.rng.choice([None, 0, 1]) if s.opset >= 12 else None
    s.emit(op, [a.name], axis=s.rng.choice([None, axis_of(s, a)]),
           keepdims=s.rng.choice([None, 0, 1]), select_last_index=last)  # fmt: skip


@recipe("TopK")
def topk(s: Scope, op: str) -> None:
    """Add the largest or smallest numbers, k as attribute, constant or computed."""
    a = s.pick(s.types_of(op), range(1, 4), lambda t: t.dims[-1] is not None)
    axis = axis_of(s, a)
    k = s.rng.choice([1, 2, a.size(axis), 0])
    if s.opset < 10:
        s.emit(op, [a.name], 2, axis=axis, k=max(k, 1))
        return
    extra: dict[str, Any] = {}
    if s.opset >= 11:
        extra = {"largest": s.rng.choice([None, 0, 1]), "sorted": s.rng.choice([None, 1])}
    given = s.rng.choice([None, axis] if axis in (-1, a.rank - 1) else [axis])
    s.emit(op, [a.name, s.param([k], [[0], [1], [3]])], 2, axis=given, **extra)


@recipe("CumSum", "CumProd")
def cumulative(s: Scope, op: str) -> None:
    """Add sums or products along an axis."""
    a = s.pick(s.types_of(op), range(1, 4))
    axis = s.param(axis_of(s, a), [0, -1], s.rng.choice([I64, I32]))
    s.emit(op, [a.name, axis], exclusive=s.rng.choice([None, 0, 1]),
           reverse=s.rng.choice([None, 0, 1]))  # fmt: skip


@recipe("Dropout")
def dropout(s: Scope, op: str) -> None:
    """Add a Dropout that does nothing, with its mask at times."""
    a = s.pick(s.types_of(op), range(5))
    outputs = s.rng.choice([1, 2]) if s.opset >= 10 else 1
    if s.opset >= 12:
        extra = s.rng.choice([[], [s.const(0.3, F32)], [s.const(0.3, F32), s.const(False)]])
        s.emit(op, [a.name, *extra], outputs)
    else:
        s.emit(op, [a.name], outputs, ratio=s.rng.choice([None, 0.3]))


@recipe("Range")
def count_up(s: Scope, op: str) -> None:
    """Add a Range of any type, up or down, of no number at times."""
    elem = s.rng.choice(s.types_of(op))
    start, limit, delta = s.rng.choice([(0, 5, 1), (5, 0, -2), (3, 3, 1), (0, 7, 3), (2, 0, 1)])
    if elem == U64:
        raise Impossible
    s.emit(op, [s.param(start, [0, -3], elem), s.param(limit, [0, 9], elem), s.const(delta, elem)])
