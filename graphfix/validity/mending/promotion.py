"""Which type holds what two types hold, as NumPy and PyTorch promote; integers stay integers."""

from __future__ import annotations

from collections.abc import Collection

_FLOATS = {"float16": 16, "bfloat16": 16, "float32": 32, "float64": 64}
_SIGNED = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
_UNSIGNED = {"uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}
# The integers up to this one are all held.
EXACT = {"float16": 2**11, "bfloat16": 2**8, "float32": 2**24, "float64": 2**53}


def is_float(name: str) -> bool:
    """Say whether a type holds fractions, and arithmetic is done in it."""
    return name in _FLOATS


def is_integer(name: str) -> bool:
    """Say whether a type holds integers, of 8 bits and more."""
    return name in _SIGNED or name in _UNSIGNED


def bits(name: str) -> int:
    """Return the bits of a type of one of the two kinds."""
    return _FLOATS.get(name) or _SIGNED.get(name) or _UNSIGNED[name]


def joined(types: Collection[str]) -> str:
    """Return the narrowest type that holds what all of these hold; empty where there is none.

    Truth values count as 0 and 1 next to numbers; integers and floats have no type in common,
    since either may be what is meant.
    """
    found = set(types)
    numbers = found - {"bool"}
    if not numbers:
        return "bool" if found else ""
    if numbers <= set(_FLOATS):
        if len(numbers) > 1 and max(_FLOATS[name] for name in numbers) == 16:
            return "float32"
        return max(numbers, key=lambda name: _FLOATS[name])
    signed = max((_SIGNED[name] for name in numbers if name in _SIGNED), default=0)
    unsigned = max((_UNSIGNED[name] for name in numbers if name in _UNSIGNED), default=0)
    if not numbers <= {*_SIGNED, *_UNSIGNED}:
        return ""
    if not signed:
        return f"uint{unsigned}"
    wanted = max(signed, 2 * unsigned)
    return f"int{wanted}" if wanted <= 64 else ""


def next_type(name: str, allowed: Collection[str]) -> str:
    """Return what a type is to become where only others are taken; empty where it is not plain.

    The narrowest of its kind that is wider; else the only one of its kind that there is.
    """
    alike = [t for t in allowed if (is_float if is_float(name) else is_integer)(t)]
    wider = [t for t in alike if joined((name, t)) == t]
    if wider:
        return min(wider, key=lambda t: (bits(t), t))
    return alike[0] if len(alike) == 1 and is_float(name) else ""
