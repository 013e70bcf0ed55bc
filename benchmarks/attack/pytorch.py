"""PyTorch as a judge: what an operator of ATen gives, from a process with its own Python.

This file is run as a script by a Python that has PyTorch; it imports nothing of graphfix.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# at::ScalarType (c10/core/ScalarType.h)
TYPES = {
    0: "uint8", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "float16", 6: "float32",
    7: "float64", 11: "bool",
}  # fmt: skip


@dataclass(frozen=True)
class Tensor:
    """The place of a tensor among arguments: the name under which it is fed."""

    name: str


@dataclass(frozen=True)
class Called:
    """A call of an operator.

    Attributes:
        operator: Its name without ``aten::``.
        overload: Its overload; ``default`` for the one without a name.
        arguments: In the order of the schema; a `Tensor` for what is fed.
        kept: Tensors that the model holds.
    """

    operator: str
    overload: str
    arguments: tuple[Any, ...]
    kept: Mapping[str, Any]


class PyTorch:
    """A child that calls operators."""

    def __init__(self, python: str) -> None:
        """Start it."""
        pipe = subprocess.PIPE
        command = [python, "-P", str(Path(__file__).resolve())]
        self._child = subprocess.Popen(command, stdin=pipe, stdout=pipe)

    def bound(self, operator: str, overload: str, given: Sequence[Any], named: Any) -> Any:
        """Return arguments in the order of the schema, how many are needed, and what is said.

        The first is None where PyTorch has no such operator, or it gives a list of tensors.
        """
        plain = {name: _plain(a) for name, a in named.items()}
        found, needed, said = self._ask(
            ("bound", operator, overload, [_plain(a) for a in given], plain)
        )
        return None if found is None else [_placed(a) for a in found], needed, said

    def ask(self, called: Called, feeds: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Return the results for each feed, or why there are none."""
        arguments = [_plain(a) for a in called.arguments]
        fed = [{**called.kept, **feed} for feed in feeds]
        found: list[Any] = self._ask(("call", called.operator, called.overload, arguments, fed))
        return found

    def _ask(self, request: Any) -> Any:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        pickle.dump(request, self._child.stdin)
        self._child.stdin.flush()
        return pickle.load(self._child.stdout)

    def close(self) -> None:
        """End it."""
        self._child.kill()
        self._child.communicate()


def _plain(argument: Any) -> Any:
    """Return an argument in what both processes have classes for."""
    if isinstance(argument, Tensor):
        return ("tensor", argument.name)
    return [_plain(a) for a in argument] if is_list(argument) else argument


def _placed(argument: Any) -> Any:
    """Return a plain argument as it was."""
    if isinstance(argument, tuple):
        return Tensor(str(entries_of(argument)[1]))
    return [_placed(a) for a in argument] if is_list(argument) else argument


def entries_of(argument: Any) -> list[Any]:
    """Return the entries of a list or a tuple; none of what is neither."""
    return [*argument] if isinstance(argument, list | tuple) else []  # pyright: ignore[reportUnknownVariableType]


def is_list(argument: Any) -> bool:
    """Say whether an argument is a list."""
    return isinstance(argument, list)


def _bound(
    torch: Any, operator: str, overload: str, given: list[Any], named: dict[str, Any]
) -> Any:
    try:
        schema = getattr(getattr(torch.ops.aten, operator), overload)._schema
    except AttributeError as error:
        return None, 0, str(error)
    if any("List" in str(r.type) or "[]" in str(r.type) for r in schema.returns):
        return None, 0, "it gives a list"
    arguments: list[Any] = []
    needed = 0
    for place, argument in enumerate(schema.arguments):
        if place < len(given):
            value, needed = given[place], place + 1
        elif argument.name in named:
            value, needed = named[argument.name], place + 1
        else:
            value = argument.default_value
            value = entries_of(value) if isinstance(value, tuple) else value
        arguments.append(value)
    left = set(named) - {a.name for a in schema.arguments}
    return (None, 0, f"no argument {left}") if left else (arguments, needed, "")


def _call(torch: Any, operator: str, overload: str, arguments: list[Any], feeds: Any) -> list[Any]:
    function = getattr(getattr(torch.ops.aten, operator), overload)
    answers: list[Any] = []
    for feed in feeds:
        given: list[Any] = []
        named: dict[str, Any] = {}
        for spec, argument in zip(function._schema.arguments, arguments, strict=True):
            value = _value(torch, argument, feed)
            if "ScalarType" in str(spec.real_type) and isinstance(value, int):
                value = getattr(torch, TYPES[value])
            if spec.kwarg_only:
                named[spec.name] = value
            else:
                given.append(value)
        try:
            result = function(*given, **named)
            several = entries_of(result) or [result]
            tensors = [torch.as_tensor(r).detach().resolve_conj() for r in several]
            answers.append([t.resolve_neg().contiguous().cpu().numpy() for t in tensors])
        except Exception as error:  # PyTorch's exceptions have no common base
            answers.append(f"{type(error).__name__}: {error}"[:200])
    return answers


def _value(torch: Any, argument: Any, feed: Any) -> Any:
    if isinstance(argument, tuple):
        return torch.from_numpy(feed[argument[1]].copy())
    return [_value(torch, a, feed) for a in argument] if is_list(argument) else argument


def _serve() -> None:
    import warnings

    import torch  # type: ignore[import-not-found]  # pyright: ignore[reportMissingImports]

    warnings.simplefilter("ignore")
    threads: Any = torch
    threads.set_num_threads(1)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            kind, *request = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump((_bound if kind == "bound" else _call)(torch, *request), answers)
        answers.flush()


if __name__ == "__main__":
    _serve()
