"""Sizes for dynamic dimensions: the same name has the same size, and several sizes are tried."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence, Sized
from functools import lru_cache
from math import gcd

# Free sizes have no factor in common, so that two dimensions that were mixed up are seen, and a
# product or quotient of the wrong ones too.
_COPRIME = {
    "batch": (2, 3),
    "spatial": (17, 23, 29, 37, 19, 31, 13),
    "other": (5, 7, 11, 4, 13, 9),
}
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83)
# What networks halve five times over still differs, and is a multiple of this.
_HALVED, _HALVED_SIZES = 32, 3
# The sizes of models in which all sides of an image are one.
_BATCH = (2, 1, 3)
_SPATIAL = (16, 32, 24, 64, 8)
_OTHER = (4, 7, 5, 3, 8, 6)
# (size of every dimension, batch) for models that only run where some sizes agree.
_EQUAL = (
    *((2, 1), (2, 2), (1, 1), (3, 1), (3, 3), (4, 1), (4, 4), (8, 1), (8, 8), (16, 1), (16, 16)),
    *((32, 1), (64, 1), (224, 1), (5, 5), (6, 6), (10, 1), (80, 1), (128, 1), (512, 1)),
)

_SQUARE_FROM = 2
FREE_PATTERNS = 5
ATTEMPTS = FREE_PATTERNS + len(_EQUAL)
# One dimension of this size and all others 1, or 2: for models where few sizes fit one of them.
_LONE = (512, 256, 1024, 160, 96, 40)
_LONE_RESTS = (1, 2)
# From this attempt on integers without a role are 0 and 1 only.
CONSERVATIVE_FROM = FREE_PATTERNS + 4
# A model with more dimensions than this is not tried with each of them at 0 and at 1 alone.
_MOST_ALONE = 8


def choose(
    symbols: Mapping[str, str], sample: int, attempt: int, edge: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Return a size for every symbol.

    Args:
        symbols: Symbol to kind: ``batch``, ``spatial`` or ``other``.
        sample: Number of the input set; sets differ in their sizes where the attempt is free.
        attempt: 0 up to `attempts_for(symbols)` - 1. The first one gives each symbol a size that
            has no factor in common with any other, the second one sides of images that can be
            halved and differ, the next ones square images; then all symbols have one size, the
            batch that size too or one; the last ones give one symbol a size of its own and all
            others one or two.
        edge: Sizes that go before these; see `edges`.
    """
    fixed = dict(edge or {})
    if attempt >= ATTEMPTS:
        return _lone(list(symbols), attempt - ATTEMPTS) | fixed
    if attempt >= FREE_PATTERNS:
        size, batch = _EQUAL[attempt - FREE_PATTERNS]
        equal = {symbol: batch if kind == "batch" else size for symbol, kind in symbols.items()}
        return equal | fixed
    if attempt == 0:
        result = _coprime(symbols, sample)
    elif attempt < _SQUARE_FROM:
        result = _square(symbols, sample) | _halved(symbols, sample)
    else:
        result = _square(symbols, sample + attempt - _SQUARE_FROM)
    result |= fixed
    return result | _totals(result) | fixed


def edges(symbols: Sequence[str], tried: Sequence[int]) -> list[dict[str, int]]:
    """Return sizes such as 1 and 0, for all symbols together and for each alone."""
    if not symbols:
        return []
    together = [dict.fromkeys(symbols, size) for size in tried]
    alone = symbols[: _MOST_ALONE if len(symbols) > 1 else 0]
    return [*together, *({symbol: size} for size in tried for symbol in alone)]


def _coprime(symbols: Mapping[str, str], turn: int) -> dict[str, int]:
    """Return sizes of which no two have a common factor, as far as there are such."""
    result: dict[str, int] = {}
    counts = dict.fromkeys(_COPRIME, turn)
    for kind, pool in _COPRIME.items():
        for symbol in (s for s, k in symbols.items() if k == kind):
            start = counts[kind] % len(pool)
            counts[kind] += 1
            wanted = (*pool[start:], *pool[:start], *_PRIMES)
            taken = result.values()
            free = (size for size in wanted if all(gcd(size, other) == 1 for other in taken))
            result[symbol] = next(free, wanted[0])
    return {symbol: result[symbol] for symbol in symbols}


def _halved(symbols: Mapping[str, str], turn: int) -> dict[str, int]:
    sides = [symbol for symbol, kind in symbols.items() if kind == "spatial"]
    count = max(_HALVED_SIZES, len(sides))
    return {s: _HALVED * (1 + (turn + index) % count) for index, s in enumerate(sides)}


def _square(symbols: Mapping[str, str], turn: int) -> dict[str, int]:
    result: dict[str, int] = {}
    for index, (symbol, kind) in enumerate(symbols.items()):
        if kind == "batch":
            result[symbol] = _BATCH[turn % len(_BATCH)]
        elif kind == "spatial":
            result[symbol] = _SPATIAL[turn % len(_SPATIAL)]
        else:
            result[symbol] = _OTHER[(turn + index) % len(_OTHER)]
    return result


def _totals(sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the sizes of symbols such as total_sequence_length: what is past and what is new.

    Decoders that keep what is past have them for the mask, as onnxruntime's tools write them.
    """
    names = {symbol: symbol.lower() for symbol in sizes}
    totals = [s for s, name in names.items() if "total" in name]
    past = [s for s, name in names.items() if "past" in name and s not in totals]
    new = [s for s, name in names.items() if "seq" in name and s not in (*totals, *past)]
    if len(past) != 1 or len(new) != 1:
        return {}
    return dict.fromkeys(totals, sizes[past[0]] + sizes[new[0]])


def attempts_for(symbols: Sized) -> int:
    """Return how many attempts there are for dimensions of which each has its own size."""
    several = len(symbols) if len(symbols) > 1 else 0
    return ATTEMPTS + several * len(_LONE) * len(_LONE_RESTS)


def neighbour(attempt: int, symbols: Sized) -> int:
    """Return the attempt that differs from a last one in the size of all other dimensions."""
    step = len(symbols)
    return attempt + (step if (attempt - ATTEMPTS) // step % 2 == 0 else -step)


def _lone(symbols: list[str], number: int) -> dict[str, int]:
    chosen = symbols[number % len(symbols)]
    size, rest = divmod(number // len(symbols), len(_LONE_RESTS))
    others = dict.fromkeys(symbols, _LONE_RESTS[rest])
    return others | {chosen: _LONE[size % len(_LONE)]}


def kind_of(symbol: str, axis: int, rank: int) -> str:
    """Guess what a dynamic dimension counts from its name and place."""
    name = symbol.lower()
    if "batch" in name or (axis == 0 and rank > 1 and "seq" not in name):
        return "batch"
    if rank in (4, 5) and axis >= 2:
        return "spatial"
    return "other"


@lru_cache(maxsize=1 << 12)
def names_in(expression: str) -> tuple[str, ...]:
    """Return the names in a dimension such as ``past + seq``; the text itself if it is no sum."""
    tree = _parse(expression)
    if tree is None:
        return (expression,)
    return tuple(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def evaluate(expression: str, sizes: Mapping[str, int]) -> int | None:
    """Return the size of a dimension name or expression, None where a name has no size."""
    if expression in sizes:
        return sizes[expression]
    tree = _parse(expression)
    if tree is None:
        return None
    try:
        return max(0, _value(tree.body, sizes))
    except (KeyError, ZeroDivisionError, ValueError):
        return None


@lru_cache(maxsize=1024)
def _parse(expression: str) -> ast.Expression | None:
    try:
        tree = ast.parse(expression, mode="eval")
    except (SyntaxError, ValueError):
        return None
    allowed = (ast.Expression, ast.BinOp, ast.operator, ast.Name, ast.Load, ast.Constant)
    return tree if _all_are(ast.walk(tree), allowed) else None


def _all_are(nodes: Iterable[ast.AST], kinds: tuple[type[ast.AST], ...]) -> bool:
    return all(isinstance(node, kinds) for node in nodes)


def _value(node: ast.expr, sizes: Mapping[str, int]) -> int:
    if isinstance(node, ast.Name):
        return sizes[node.id]
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left, sizes), _value(node.right, sizes)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.FloorDiv | ast.Div):
            return left // right
    raise ValueError("not arithmetic on sizes")
