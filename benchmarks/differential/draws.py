"""What the judge feeds: sizes that differ from each other, 0 and 1, and numbers at every end.

It shares no code with the drawing that graphfix proves with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from onnx import TensorProto, helper

from benchmarks.differential.scope import BASE_SIZES, Array, Input

PRIMES = (2, 3, 5, 7, 11)
_WIDE = (2**24 + 1, -(2**24) - 1, 2**31 - 1, -(2**31), 2**31, 2**32 + 3, 2**53 + 1, 2**63 - 1,
         -(2**63), 2**64 - 1)  # fmt: skip
_SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-45, 65504.0, 3e38, -1.5, 1e30)


@dataclass(frozen=True)
class Draw:
    """How one sample is drawn.

    Attributes:
        sizes: The size of each symbol.
        kind: ``normal``, ``small``, ``zeros``, ``special`` or ``wide``.
        turn: Which of the values of a parameter are fed.
        seed: Of the numbers.
    """

    sizes: Mapping[str, int]
    kind: str
    turn: int
    seed: int


def plan(inputs: Sequence[Input], *, empty: bool = True) -> Iterator[Draw]:
    """Walk the samples of a model: the base first, then sizes, kinds and parameters in turn.

    Args:
        inputs: The inputs of the model.
        empty: Whether sizes of 0 are drawn.
    """
    for draw in _all(inputs):
        if empty or 0 not in draw.sizes.values():
            yield draw


def _all(inputs: Sequence[Input]) -> Iterator[Draw]:
    symbols = sorted({d for i in inputs for d in i.dims if isinstance(d, str)})
    most = max((len(i.values) for i in inputs), default=1)
    yield Draw(BASE_SIZES, "normal", 0, 0)
    assignments: list[dict[str, int]] = []
    for shift in range(2):
        assignments.append({s: PRIMES[(k + shift) % len(PRIMES)] for k, s in enumerate(symbols)})
    reverse = list(reversed(PRIMES))
    assignments.append({s: reverse[k % len(PRIMES)] for k, s in enumerate(symbols)})
    base = assignments[0]
    for symbol in symbols:
        assignments += [{**base, symbol: 1}, {**base, symbol: 0}]
    if len(symbols) > 1:
        assignments += [dict.fromkeys(symbols, 1), dict.fromkeys(symbols, 0)]
    kinds = ("normal", "small", "wide", "normal", "zeros", "special", "normal")
    count = max(len(assignments), len(kinds), most + 1)
    for number in range(min(count, 18)):
        sizes = assignments[number % len(assignments)]
        yield Draw(sizes, kinds[number % len(kinds)], number, number + 1)
    for turn in range(1, most):
        yield Draw(BASE_SIZES, "small", turn, 100 + turn)
    for kind in ("special", "wide"):
        yield Draw(BASE_SIZES, kind, 0, 200)


def feed(inputs: Sequence[Input], draw: Draw) -> dict[str, Array]:
    """Return one sample."""
    rng = np.random.default_rng([draw.seed, 7])
    return {i.name: _value(i, draw, rng) for i in inputs}


def _value(given: Input, draw: Draw, rng: np.random.Generator) -> Array:
    if given.values:
        return given.values[draw.turn % len(given.values)]
    shape = tuple(draw.sizes.get(d, 1) if isinstance(d, str) else d for d in given.dims)
    dtype = helper.tensor_dtype_to_np_dtype(given.elem)
    if given.elem == TensorProto.STRING:
        return np.asarray(rng.choice(["", "a", "Bb", "ß"], shape), dtype=object)
    if given.elem == TensorProto.BOOL:
        return np.asarray(rng.integers(0, 2, shape)).astype(bool)
    if given.low is not None and given.high is not None:
        return np.asarray(rng.integers(given.low, given.high + 1, shape)).astype(dtype)
    if draw.kind == "zeros":
        return np.zeros(shape, dtype)
    if dtype.kind in "iu":
        low = 0 if dtype.kind == "u" else -9
        values = np.asarray(rng.integers(low, 10, shape)).astype(dtype)
        if draw.kind == "wide":
            ends = np.iinfo(dtype)
            wide = np.array([w for w in _WIDE if ends.min <= w <= ends.max] or [ends.max],
                            dtype=object).astype(dtype)  # fmt: skip
            some = rng.random(shape) < 0.4
            values = np.where(some, rng.choice(wide, shape), values)
        return np.asarray(values, dtype)
    number = np.asarray(rng.normal(size=shape) * 2)
    if draw.kind == "small":
        number = np.round(number) / 2
    elif draw.kind == "special":
        number = np.where(rng.random(shape) < 0.3, rng.choice(_SPECIAL, shape), number)
    elif draw.kind == "wide":
        number = number * 10.0 ** rng.integers(-3, 4, shape)
    with np.errstate(all="ignore"):
        return np.asarray(number).astype(dtype)
