"""The schemas of ATen operators, read from the committed table when they are first asked for."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

FILE = Path(__file__).with_name("aten.txt")
REQUIRED = object()
_LINE = re.compile(r"(?P<operator>\w+)(\.(?P<overload>\w+))?\((?P<arguments>.*)\) -> (?P<gives>.*)")
_ARGUMENT = re.compile(r"(?P<type>\S+) (?P<name>\w+)(=(?P<default>.*))?")
_ALIAS = re.compile(r"\([a-z](!?)( -> \*)?\)")
_NEVER_WRITTEN = ("Dimname", "Dict(", "...", "tVal")
# A comma that is in no list.
_COMMA = re.compile(r", (?![^\[]*\])")


class Formal(Struct, frozen=True):
    """One argument of a schema.

    Attributes:
        name: Its name.
        type: Its type as PyTorch writes it, without ``?``: ``Tensor``, ``int[2]``, ``ScalarType``.
        optional: Whether None is one of its values.
        default: What it is where nothing is given; `REQUIRED` where something must be.
        by_name: Whether PyTorch takes it by its name alone, not by its place.
    """

    name: str
    type: str
    optional: bool
    default: Any
    by_name: bool = False

    @property
    def is_tensor(self) -> bool:
        """Whether it is a tensor or a list of tensors."""
        return self.type.startswith("Tensor")


class Overload(Struct, frozen=True):
    """One overload of an operator.

    Attributes:
        operator: The operator without ``aten::``.
        name: The overload; empty for the default one.
        arguments: Its arguments, in order.
        results: How many results it has; 0 for a list of a length that the arguments give.
    """

    operator: str
    name: str
    arguments: tuple[Formal, ...]
    results: int

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arguments."""
        return tuple(argument.name for argument in self.arguments)

    def formal(self, name: str) -> Formal | None:
        """Return an argument, or None where there is none of this name."""
        return next((one for one in self.arguments if one.name == name), None)


def overloads_of(operator: str) -> tuple[Overload, ...]:
    """Return the overloads of an operator, the default one first; none where it is not known."""
    return _parsed(operator)


def line_of(schema: Any) -> str | None:
    """Return a schema that PyTorch has registered as a line of the table.

    Left out are overloads that write into ``out``, that give no tensor, or that name dimensions
    by texts: no exporter writes them. None is returned for those.

    Args:
        schema: A ``torch.FunctionSchema``.
    """
    text = str(schema)
    gives = text.rpartition("->")[2]
    written = (a.alias_info is not None and a.alias_info.is_write for a in schema.arguments)
    out = any(w and a.kwarg_only for w, a in zip(written, schema.arguments, strict=True))
    if out or any(kind in text for kind in _NEVER_WRITTEN) or "Tensor" not in gives:
        return None
    return _ALIAS.sub("", text.removeprefix("aten::"))


def overload_of(line: str) -> Overload:
    """Return the overload of a line as the table has them."""
    return _overload(line)


@cache
def operators() -> frozenset[str]:
    """Return the operators of the table."""
    return frozenset(_lines())


@cache
def _lines() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        found.setdefault(re.split(r"[.(]", line, maxsplit=1)[0], []).append(line)
    return found


@cache
def _parsed(operator: str) -> tuple[Overload, ...]:
    found = [_overload(line) for line in _lines().get(operator, ())]
    return tuple(sorted(found, key=lambda one: one.name != ""))


def _overload(line: str) -> Overload:
    parts = _LINE.fullmatch(line)
    assert parts is not None  # the table is generated
    texts = _COMMA.split(parts["arguments"]) if parts["arguments"] else []
    star = texts.index("*") if "*" in texts else len(texts)
    arguments = tuple(_formal(t, at > star) for at, t in enumerate(texts) if t != "*")
    gives = parts["gives"]
    listed = gives.endswith("[]")
    results = 0 if listed else gives.count(",") + 1
    return Overload(parts["operator"], parts["overload"] or "", arguments, results)


def _formal(text: str, by_name: bool) -> Formal:
    parts = _ARGUMENT.fullmatch(text)
    assert parts is not None  # the table is generated
    kind, written = parts["type"], parts["default"]
    default = REQUIRED if written is None else ast.literal_eval(written)
    return Formal(parts["name"], kind.removesuffix("?"), kind.endswith("?"), default, by_name)
