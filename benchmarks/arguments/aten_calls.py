"""Calls of ATen operators, each with one argument set to what it is not by default.

PyTorch is the judge: a call that it does not take is none.
"""

from __future__ import annotations

import importlib
import itertools
import random
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import numpy as np

from graphfix.operators.arguments.aten_table import (
    REQUIRED,
    Formal,
    Overload,
    operators,
    overloads_of,
)
from graphfix.operators.arguments.neutral import is_harmless

_TRIES = 1500
_SECONDS = 20  # that one operator may take
_TEXTS = (
    "tanh", "floor", "trunc", "sum", "mean", "amax", "prod", "same", "valid", "ortho", "forward",
    "right", "reflect", "replicate", "circular", "constant", "ij", "xy", "nuc", "fro", "max",
)  # fmt: skip
_NUMBERS: Mapping[str, tuple[Any, ...]] = {
    "bool": (True, False),
    "int": (1, 0, 2, -1, 3, 4),
    "SymInt": (2, 1, 0, 3, 4, 12),
    "float": (0.5, 2.0, 1.0, 0.0, -0.25),
    "Scalar": (2, 0.5, 1, 0.0, 3, -1.0),
    "ScalarType": (7, 4, 3, 6, 11),
    "str": _TEXTS,
}
_LISTS: tuple[Any, ...] = ([1], [0], [2, 2], [0, 1], [1, 1], [3, 4], [2, 3], [1, 0], [-1],
                           [2, 2, 2], [1, 1, 1, 1], [4], [2, 3, 4], [0], [])  # fmt: skip
# Arguments that only say where or how something is computed are for no call.
_LEFT_OUT = ("Device", "Layout", "MemoryFormat", "Generator", "Dimname", "Stream", "Storage")


@dataclass(frozen=True)
class ArgumentCall:
    """One call.

    Attributes:
        overload: What is called.
        argument: The argument that is not at its default.
        given: All arguments by name: arrays, lists of arrays, numbers, lists, texts, None.
        expected: What PyTorch gives.
    """

    overload: Overload
    argument: str
    given: Mapping[str, Any]
    expected: tuple[Any, ...]


def calls(seed: int = 7, only: Sequence[str] = ()) -> Iterator[ArgumentCall]:
    """Yield a call for each argument of every overload of the table, at no default.

    Each operator is called in a child: kernels of PyTorch crash on some numbers that no caller
    would give, and there is no call of theirs then.
    """
    torch: Any = importlib.import_module("torch")
    torch.set_num_threads(1)
    context = get_context("fork")
    for operator in sorted(only or operators()):
        receiver, sender = context.Pipe(duplex=False)
        child = context.Process(target=_answer, args=(torch, operator, seed, sender))
        child.start()
        sender.close()
        found: list[ArgumentCall] = []
        try:
            if receiver.poll(_SECONDS):
                found = receiver.recv()
        except EOFError:
            found = []
        child.kill()
        child.join()
        yield from found


def _answer(torch: Any, operator: str, seed: int, sender: Any) -> None:
    found: list[ArgumentCall] = []
    for overload in overloads_of(operator):
        function = _function(torch, overload)
        if function is None:
            continue
        rng = random.Random(seed ^ zlib.crc32(f"{operator}.{overload.name}".encode()))
        base = _base(torch, function, overload, rng)
        if base is not None:
            found += _varied(torch, function, overload, base)
    sender.send(found)


def _function(torch: Any, overload: Overload) -> Any:
    packet = getattr(torch.ops.aten, overload.operator, None)
    found = None if packet is None else getattr(packet, overload.name or "default", None)
    drawn = found is not None and torch.Tag.nondeterministic_seeded in getattr(found, "tags", ())
    return None if drawn or overload.operator.endswith("_") else found


def _tensors(kind: str) -> tuple[Any, ...]:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(2, 3, 4)).astype(np.float32)
    square = rng.normal(size=(4, 4)).astype(np.float32)
    found = (
        x, x[0], square, rng.normal(size=(1, 2, 6, 6)).astype(np.float32), x[0, 0],
        rng.integers(0, 3, (2, 3, 4)), rng.integers(0, 2, (4,)), rng.integers(0, 3, (3, 4)),
        x > 0, (x > 0)[0], np.float32(2.0) * np.ones((), np.float32),
        rng.normal(size=(2, 2, 3, 3)).astype(np.float32), rng.normal(size=3).astype(np.float32),
        square @ square.T + 4 * np.eye(4, dtype=np.float32), np.abs(x), np.abs(x[0]),
        rng.normal(size=2).astype(np.float32), rng.integers(0, 2, (2,)),
        rng.normal(size=(1, 2, 3, 6, 6)).astype(np.float32), np.array([1, 2, 3, 4], np.int32),
    )  # fmt: skip
    if "[]" not in kind:
        return found
    return ([x, x + 1], [square, square], [x[0], x[0] - 2], [found[6], found[6]], [found[6]])


# What has to go up, without PyTorch asking whether it does.
_SORTED = ("bins", "boundaries", "sorted_sequence")


def _candidates(argument: Formal, operator: str = "") -> tuple[Any, ...]:
    kind = argument.type
    if argument.name in _SORTED and argument.is_tensor and "[]" not in kind:
        return tuple(np.sort(one, axis=-1) for one in _tensors(kind) if one.ndim)
    if "cholesky" in operator and argument.name == "self":
        return tuple(
            one @ one.T + 4 * np.eye(len(one), dtype=np.float32)
            for one in _tensors(kind)
            if one.ndim == 2 and one.dtype == np.float32
        )
    if argument.is_tensor:
        return _tensors(kind)
    if "[" in kind:
        return tuple([float(n) for n in one] for one in _LISTS) if "float" in kind else _LISTS
    return _NUMBERS.get(kind, ())


def _base(torch: Any, function: Any, overload: Overload, rng: random.Random) -> Any:
    """Return arguments that PyTorch takes, all that need not be given at their defaults."""
    needed = [a for a in overload.arguments if a.default is REQUIRED and not a.optional]
    pools = [_candidates(argument, overload.operator) for argument in needed]
    if not all(pools):
        return None
    whole = 1
    for pool in pools:
        whole *= len(pool)
    picks: Any = itertools.product(*pools)
    if whole > _TRIES:
        picks = ([rng.choice(pool) for pool in pools] for _ in range(_TRIES))
    for picked in picks:
        given = {a.name: None if a.default is REQUIRED else a.default for a in overload.arguments}
        given.update(zip((a.name for a in needed), picked, strict=True))
        if _called(torch, function, overload, given) is not None:
            return given
    return None


def _varied(
    torch: Any, function: Any, overload: Overload, base: Mapping[str, Any]
) -> Iterator[ArgumentCall]:
    plain = _called(torch, function, overload, base)
    assert plain is not None  # asked before
    for argument in overload.arguments[1:]:
        if argument.type in _LEFT_OUT or is_harmless(overload.operator, argument.name):
            continue
        usual, kept = base[argument.name], None
        for value in _candidates(argument, overload.operator):
            if _same_value(value, usual):
                continue
            given = {**base, argument.name: value}
            made = _called(torch, function, overload, given)
            if made is None:
                continue
            kept = kept or ArgumentCall(overload, argument.name, given, made)
            if not _same(made, plain):  # one that shows is better than one that does not
                kept = ArgumentCall(overload, argument.name, given, made)
                break
        if kept is not None:
            yield kept


def _same_value(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    firsts: list[Any] = [v[0] for v in (one, other) if hasattr(v, "append") and v]
    plain = not any(hasattr(first, "shape") for first in firsts)
    if plain and not hasattr(one, "shape") and not hasattr(other, "shape"):
        return type(one) is type(other) and bool(one == other)
    return one is other


def _same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return len(one) == len(other) and all(
        a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
        for a, b in zip(one, other, strict=True)
    )


def _called(
    torch: Any, function: Any, overload: Overload, given: Mapping[str, Any]
) -> tuple[Any, ...] | None:
    """Return what PyTorch gives; None where it does not take the arguments."""
    args: list[Any] = []
    named: dict[str, Any] = {}
    for argument in overload.arguments:
        value = _for_torch(torch, argument, given[argument.name])
        if argument.by_name:
            named[argument.name] = value
        else:
            args.append(value)
    try:
        with torch.no_grad():
            made = function(*args, **named)
        several: list[Any] = [made] if hasattr(made, "detach") else [*made]
        found: tuple[Any, ...] = tuple(
            np.asarray(one.detach().resolve_neg().numpy()) for one in several
        )
    except Exception:  # PyTorch's exceptions have no common base
        return None
    usual = all(array.dtype.kind in "biuf" and array.size < 4000 for array in found)
    return found if found and usual else None


def _for_torch(torch: Any, argument: Formal, value: Any) -> Any:
    if argument.is_tensor and value is not None:
        several: list[Any] = value if "[]" in argument.type else [value]
        made = [torch.from_numpy(np.array(one)) for one in several]
        return made if "[]" in argument.type else made[0]
    if argument.type == "ScalarType" and value is not None:
        return {3: torch.int32, 4: torch.int64, 6: torch.float32, 7: torch.float64,
                11: torch.bool}[value]  # fmt: skip
    return value
