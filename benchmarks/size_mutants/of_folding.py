"""Folding and shape inference that take sizes for what they are not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

import numpy as np
from onnx import TensorProto

from benchmarks.size_mutants.mutant import Mutant
from graphfix.analysis import shape_inference
from graphfix.analysis.folding import partial

_CONSTS = (
    "<int64[1] k = {77}, int64[1] big = {1000}, int64[1] zero = {0}, int64[1] one = {1}, "
    "int64[1] two = {2}, float[1] each = {1.5}>"
)
_NAMES = {value: name.lower() for name, value in TensorProto.DataType.items()}


def _of(body: str) -> str:
    head = f"g (float[N] x) => (float[N] z, float[A] y) {_CONSTS} {{ s = Shape (x) z = Neg (x) "
    return f"{head}{body} }}"


def _casts(to: int) -> str:
    return f"a = Cast <to = {to}> (s) b = Cast <to = 7> (a) "


def _following(to: int) -> Callable[[], AbstractContextManager[Any]]:
    """Follow a size through a Cast to one type, as if it held every size."""
    right, kept = partial.FUNCTIONS["Cast"], partial.FUNCTIONS["Identity"]

    def cast(node: Any, operands: Any) -> Any:
        return (kept if int(node.attr("to")) == to else right)(node, operands)

    return lambda: patch.dict(partial.FUNCTIONS, {"Cast": cast})


def _shown(to: int) -> Callable[[], AbstractContextManager[Any]]:
    """Show inference a Cast to one type as it is."""
    right = getattr(shape_inference, "_shown")  # noqa: B009 - it is private

    def shown(node: Any, narrow: set[str], *, follows: bool) -> Any:
        is_one = node.op_type == "Cast" and any(a.i == to for a in node.attribute)
        return None if is_one else right(node, narrow, follows=follows)

    return lambda: patch.object(shape_inference, "_shown", shown)


def _computing(op: str, function: Callable[[Any, Any], Any]) -> Callable[[], Any]:
    """Compute with a size that is not known and a number as if it were any small size."""
    right = partial.FUNCTIONS.get(op)

    def pair(a: Any, b: Any) -> Any:
        return function(a, b) if isinstance(a, str) and isinstance(b, int) else None

    def apply(node: Any, operands: Any) -> Any:
        found = None if right is None else right(node, operands)
        if operands[0] is None or operands[1] is None:
            return found
        left, other = np.broadcast_arrays(operands[0], operands[1])
        result = np.empty(left.shape, dtype=object)
        for index in np.ndindex(left.shape):
            known = None if found is None else found[0][index]
            result[index] = pair(left[index], other[index]) if known is None else known
        return (result,)

    return lambda: patch.dict(partial.FUNCTIONS, {op: apply})


_EQUAL = "e = Equal (b, s) y = Cast <to = 1> (e)"
_MADE = {
    "ConstantOfShape": "f = ConstantOfShape (b) t = Shape (f) e = Equal (t, s) ",
    "Expand": "f = Expand (each, b) t = Shape (f) e = Equal (t, s) ",
    "Tile": "f = Tile (each, b) t = Shape (f) e = Equal (t, s) ",
}
# Operator: what a size n and a number give, wrongly, and how both are put to use.
_WRONG: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "Equal": ("never equal", lambda a, b: 0),
    "Less": ("always less", lambda a, b: 1),
    "Greater": ("never greater", lambda a, b: 0),
    "LessOrEqual": ("always less or equal", lambda a, b: 1),
    "GreaterOrEqual": ("never greater or equal", lambda a, b: 0),
    "Min": ("the size", lambda a, b: a),
    "Max": ("the number", lambda a, b: b),
    "Mod": ("the size", lambda a, b: a),
    "Div": ("nothing", lambda a, b: 0),
}


def mutants() -> Iterator[Mutant]:
    """Yield them."""
    for to in (2, 3, 4, 5):
        for what, body in {
            "Equal": _EQUAL,
            "Sub": "d = Sub (s, b) y = Cast <to = 1> (d)",
            "Where": "e = Equal (b, s) f = Where (e, one, two) y = Cast <to = 1> (f)",
        }.items():
            yield Mutant(
                "a size is followed through a Cast", f"to {_NAMES[to]}, then {what}",
                _of(_casts(to) + body), state=_following(to),
            )  # fmt: skip
    for to, op in ((2, "ConstantOfShape"), (3, "ConstantOfShape"), (4, "Expand"), (5, "Tile"),
                   (10, "ConstantOfShape"), (16, "Expand")):  # fmt: skip
        yield Mutant(
            "inference follows a Cast", f"to {_NAMES[to]}, then {op}",
            _of(f"{_casts(to)}{_MADE[op]} y = Cast <to = 1> (e)"), state=_shown(to),
        )  # fmt: skip
    for op, (text, function) in _WRONG.items():
        for name, number in (("k", 77), ("big", 1000)):
            cast = "" if op in ("Min", "Max", "Mod", "Div") else "y = Cast <to = 1> (e)"
            body = f"e = {op} (s, {name}) {cast or 'y = Cast <to = 1> (e)'}"
            if op in ("Min", "Mod"):  # the size is a symbol: compared with itself it folds
                body = f"c = {op} (s, {name}) e = Equal (c, s) y = Cast <to = 1> (e)"
            yield Mutant(
                "a size and a number", f"{op} of a size and {number} is {text}", _of(body),
                state=_computing(op, function),
            )  # fmt: skip
