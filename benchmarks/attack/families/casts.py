"""Chains of types: what a type rounds, wraps, or takes for zero, on the way to another.

A value is cast to a second type, perhaps computed with or compared there, and cast to a third.
Numbers lie next to where types round and end; those whose cast ONNX leaves open are not fed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.attack.building import Array, Case, Feed, Job, Net, feeds_in, opset, passes, target
from benchmarks.attack.families.forms import DTYPES, TARGETS, TYPES, passes_by_operator

COUNT = 420
_KINDS = ("f", "u8", "i8", "u16", "i16", "i32", "i64", "b", "h", "d", "u32", "u64")
_NEAR: dict[str, tuple[float, ...]] = {
    "f": (0.5, 0.99999994, 1e-40, 1e-45, 254.99998, 2.5, 3.5, 0.49999997, 100.00001),
    "d": (0.5, 0.9999999999, 1e-60, 1e-300, 254.9999999999, 2.5, 0.49999999999, 1 + 2.0**-40),
    "h": (0.5, 0.9995, 6e-8, 2.5, 3.5, 100.06),
}
_OPERATORS = ("Add", "Mul", "Max", "Where", "Less", "Equal", "Not", "Neg", "Abs", "Floor", "Sign")


def cases() -> Iterator[Case]:
    """Yield chains."""
    named = passes_by_operator()
    for place in range(COUNT):
        draw = random.Random(f"cast {place}")
        kinds = [draw.choice(_KINDS) for _ in range(3)]
        net = Net(opset=draw.choice((13, 17, 19)))
        value = net.take("x", TYPES[kinds[0]], (draw.choice(("N", 6, None)),))
        value = net.add("Cast", value, to=TYPES[kinds[1]])
        value, kind, op = _computed(net, draw, value, kinds[1])
        if draw.random() < 0.8:
            value, kind = net.add("Cast", value, to=TYPES[kinds[2]]), kinds[2]
        net.give(value, TYPES[kind])
        scope = draw.choice(("main", "main", "function", "if", "loop"))
        jobs: list[Job] = [target(each) for each in draw.sample(TARGETS, 3)]
        own = named.get("Cast", []) + named.get(op, [])
        jobs.append(passes(draw.choice(own)))
        jobs.append(opset(draw.choice((9, 11, 12, 13, 18, 20))))
        feeds = feeds_in(scope, _feeds(draw, kinds))
        yield Case(f"{place}-{'-'.join(kinds)}-{op}", "casts", net.model(scope), feeds, jobs)


def _computed(net: Net, draw: random.Random, value: str, kind: str) -> tuple[str, str, str]:
    """Compute something in the second type; return the value, its type and the operator."""
    op = draw.choice(_OPERATORS)
    one = net.hold([1], DTYPES[kind])
    if kind == "b":
        op = draw.choice(("Not", "And", "Where", "Xor"))
        if op == "Not":
            return net.add("Not", value), "b", op
        if op == "Where":
            kept = net.add("Where", value, net.hold([2.5], np.float32), net.hold([-1], np.float32))
            return kept, "f", op
        return net.add(op, value, net.hold([draw.random() < 0.5], np.bool_)), "b", op
    if kind in ("u8", "i8", "u16", "i16", "u32", "u64", "h") and op not in ("Less", "Abs", "Equal"):
        return value, kind, ""
    if op in ("Add", "Mul", "Max"):
        return net.add(op, value, one), kind, op
    if op in ("Less", "Equal"):
        return net.add(op, value, one), "b", op
    if op == "Where":
        test = net.add("Less", value, one)
        return net.add("Where", test, net.add("Neg", value), value), kind, op
    if op == "Not":
        return net.add("Not", net.add("Equal", value, net.hold([0], DTYPES[kind]))), "b", op
    if op == "Floor" and kind not in ("f", "d"):
        return value, kind, ""
    return net.add(op, value), kind, op


def _feeds(draw: random.Random, kinds: list[str]) -> list[Feed]:
    """Draw numbers that every float on the way holds as an integer of every integer type."""
    count = 6
    signed = not any(kind[0] == "u" for kind in kinds)
    from_float = any(kind in "fhd" for kind in kinds[:2])
    found: list[Feed] = []
    for turn in range(4):
        numbers: list[Any] = []
        for _ in range(count):
            first = kinds[0]
            if first in _NEAR and turn:
                number: float = draw.choice(_NEAR[first])
            elif first in ("b", "f", "h", "d") or from_float or turn == 0:
                number = draw.randrange(0, 100)
            else:
                info = np.iinfo(DTYPES[first])
                near = (1 << 7, 1 << 8, 1 << 15, 1 << 16, 1 << 24, (1 << 24) + 1, 1 << 31, 1 << 32)
                ends = (*near, (1 << 53) + 1, info.max, info.max - 1, info.min, info.min + 1)
                number = draw.choice([each for each in ends if info.min <= each <= info.max])
            if number and signed and (first in "fhd" or first[0] == "i") and 0 < number < 1 << 30:
                number = draw.choice((number, -number))
            numbers.append(number)
        found.append({"x": _array(numbers, kinds[0])})
    return found


def _array(numbers: list[Any], kind: str) -> Array:
    return np.array([DTYPES[kind](number) for number in numbers], dtype=DTYPES[kind])
