"""The values that an operator takes, promoted when they meet: a second account of the readings.

Nothing here comes from `graphfix.validity.mending`, which reads types before anything runs. Here
they are those of arrays, and what two of them have in common is NumPy's to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import onnx
from msgspec import Struct

from graphfix.errors import EngineFailed
from graphfix.proving.values.kinds import Array, Value, is_floating

# Operands that say how another one is meant: of these operators the first, whose type they take.
_OF_THE_FIRST = {"Pad": (2,), "Clip": (1, 2), "Pow": (1,)}
_HALF = np.dtype(np.float16)
_ARITHMETIC = ("Add", "Sub", "Mul", "Div")


class Taken(Struct, frozen=True):
    """What a formal operand of an operator may be.

    Attributes:
        group: The operands of one group have one type.
        types: The types that it may have.
    """

    group: str
    types: frozenset[str]


@cache
def takes(op: str, opset: int, domain: str) -> tuple[Taken, ...]:
    """Return what an operator takes, operand by operand; the last one may repeat."""
    try:
        schema = onnx.defs.get_schema(op, opset, domain)
    except onnx.defs.SchemaError:
        return ()
    parameters = {constraint.type_param_str for constraint in schema.type_constraints}
    found: list[Taken] = []
    for number, formal in enumerate(schema.inputs):
        joined = formal.type_str in parameters and formal.is_homogeneous
        group = formal.type_str if joined else f"{formal.type_str} alone {number}"
        found.append(Taken(group, frozenset(map(_dtype_name, formal.types))))
    return tuple(found)


def _dtype_name(text: str) -> str:
    name = text.removeprefix("tensor(").removesuffix(")")
    return {"float": "float32", "double": "float64", "string": "object"}.get(name, name)


def promoted(
    op: str, taken: Sequence[Taken], values: Sequence[Value], stored: Sequence[bool]
) -> list[Value]:
    """Return the operands of a node as its operator takes them.

    Args:
        op: The operator.
        taken: What it takes.
        values: The operands; None for those that are left out.
        stored: Which of them are constants of the file.

    Raises:
        EngineFailed: Nothing says how they go together.
    """
    result = list(values)
    groups: dict[str, list[int]] = {}
    for place, value in enumerate(values):
        if isinstance(value, np.ndarray) and taken:
            known = taken[min(place, len(taken) - 1)]
            alone = "alone" in known.group
            groups.setdefault(f"{known.group} {place}" if alone else known.group, []).append(place)
    for places in groups.values():
        allowed = taken[min(places[0], len(taken) - 1)].types
        arrays = {place: np.asarray(values[place]) for place in places}
        names = {array.dtype.name for array in arrays.values()}
        if len(names) == 1 and names <= allowed:
            continue
        wanted = _together(op, arrays, stored, allowed)
        for place, array in arrays.items():
            result[place] = _moved(array, wanted, stored=stored[place])
    return result


def _together(
    op: str, arrays: dict[int, Array], stored: Sequence[bool], allowed: frozenset[str]
) -> np.dtype[Any]:
    first = min(arrays)
    followers = _OF_THE_FIRST.get(op, ())
    leading = {p: a for p, a in arrays.items() if not (p in followers and p != first)}
    plain = {p: a for p, a in leading.items() if not (stored[p] and a.size == 1 and a.ndim <= 1)}
    names = {array.dtype for array in plain.values()}
    if len(names) == 1 and all(
        _follows(array, next(iter(names))) for p, array in leading.items() if p not in plain
    ):
        leading = plain
    if any(is_floating(a.dtype) for a in leading.values()):
        # Integers of the file that are the same numbers as floats are written without a point.
        floats = {p: a for p, a in leading.items() if is_floating(a.dtype)}
        if len({a.dtype for a in floats.values()}) == 1:
            (dtype,) = {a.dtype for a in floats.values()}
            others = {p: a for p, a in leading.items() if p not in floats}
            exact = all(
                (stored[p] and _same(a, dtype)) or (a.dtype == bool and op in _ARITHMETIC)
                for p, a in others.items()
            )
            leading = floats if exact else leading
    return _common(op, [a.dtype for a in leading.values()], allowed)


def _common(op: str, dtypes: Sequence[np.dtype[Any]], allowed: frozenset[str]) -> np.dtype[Any]:
    kinds = {_kind(dtype) for dtype in dtypes}
    if kinds == {"b", "i"} and op in _ARITHMETIC:
        kinds = {"i"}
    if len(kinds) > 1:
        raise EngineFailed(f"{op} gets {' and '.join(sorted(d.name for d in set(dtypes)))}")
    common = dtypes[0]
    for dtype in dtypes[1:]:
        common = _wider(common, dtype)
    if common.name in allowed:
        return common
    return _next(op, common, allowed)


def _wider(one: np.dtype[Any], other: np.dtype[Any]) -> np.dtype[Any]:
    if one == other:
        return one
    if "bfloat16" in (one.name, other.name):  # which NumPy does not know
        rest = other if one.name == "bfloat16" else one
        return np.dtype(np.float32) if rest == _HALF else rest
    return np.promote_types(one, other)


def _next(op: str, dtype: np.dtype[Any], allowed: frozenset[str]) -> np.dtype[Any]:
    """Return what a type becomes that an operator does not take."""
    kind = _kind(dtype)
    order = {
        "f": ("float16", "float32", "float64"),
        "i": ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"),
    }
    if kind == "b" and op in ("ReduceSum", "CumSum"):
        return np.dtype(np.int64)
    if kind == "i" and allowed == frozenset(("bool",)) and op not in ("And", "Or", "Xor", "Not"):
        return np.dtype(bool)
    usable = [np.dtype(name) for name in order.get(kind, ()) if name in allowed]
    wide = [d for d in usable if d.itemsize >= dtype.itemsize and _wider(d, dtype) == d]
    if wide:
        return wide[0]
    if usable and (kind == "f" or dtype.name == "int64"):
        return usable[-1]
    if kind == "i" and "float32" in allowed:
        return np.dtype(np.float32)
    if kind == "f" and "int64" in allowed:
        return np.dtype(np.int64)
    raise EngineFailed(f"{op} does not take {dtype.name}")


def _moved(array: Array, wanted: np.dtype[Any], *, stored: bool) -> Array:
    if array.dtype == wanted:
        return array
    whole = _kind(array.dtype) == "f" and _kind(wanted) == "i"
    if whole and not (stored and _same(array, wanted)):
        raise EngineFailed(f"{array.dtype.name} is no {wanted.name}")
    with np.errstate(all="ignore"):
        return array.astype(wanted)


def _follows(array: Array, dtype: np.dtype[Any]) -> bool:
    """Say whether one stored number is taken in the type of the tensors next to it."""
    if _kind(array.dtype) != _kind(dtype):
        return False
    moved = _moved(array, dtype, stored=True).astype(np.float64)
    if _kind(dtype) == "f":
        wide = array.astype(np.float64)
        kept = (np.isfinite(moved) | ~np.isfinite(wide)) & ((moved != 0) | (wide == 0))
        return bool(kept.all())
    return _same(array, dtype)


def _same(array: Array, dtype: np.dtype[Any]) -> bool:
    with np.errstate(all="ignore"):
        return bool((array.astype(dtype).astype(array.dtype) == array).all())


def _kind(dtype: np.dtype[Any]) -> str:
    if is_floating(dtype):
        return "f"
    return {"i": "i", "u": "i"}.get(dtype.kind, dtype.kind)
