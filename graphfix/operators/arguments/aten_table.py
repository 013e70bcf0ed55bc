"""The schemas of ATen operators, and which overload a node calls, found by its arguments.

The schemas are read from the committed table when they are first asked for.

A file names the overload, or it does not: exporters before PyTorch 1.12 and those that write
``aten::all`` as the operator leave it out. What is given decides then, as it does for PyTorch's own
dispatcher: an overload is called when it has every argument that is given, lacks none that it must
have, and takes what they are.

Source: pytorch/pytorch torch/csrc/utils/python_arg_parser.cpp (how arguments are distinguished).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
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


# Attributes that say which operator a node calls, and are no arguments of it.
CALLING = frozenset({"operator", "overload_name", "overload"})


class Given(Struct, frozen=True):
    """What one input or attribute is.

    Attributes:
        kind: ``b``, ``i``, ``f`` or ``c`` for numbers, ``s`` for a text, ``l`` for a list of
            tensors; empty where it is not known.
        rank: Its number of dimensions; None where it is not known.
        attribute: Whether it is an attribute, which holds no tensor of the graph.
    """

    kind: str = ""
    rank: int | None = None
    attribute: bool = False


class Arguments(Struct, frozen=True):
    """What a node gives.

    Attributes:
        attributes: What its attributes are, those that say which operator it calls left out.
        inputs: What its inputs are, None for one that is left out or PyTorch's None.
        results: How many outputs it has; 0 where that is not known.
        needed: How many of them are needed: the place of the last one that is used.
    """

    attributes: Mapping[str, Given]
    inputs: tuple[Given | None, ...]
    results: int = 0
    needed: int = 0


class Unfit(Exception):  # noqa: N818 - an answer, not an error
    """Why no overload, or more than one, is called."""


def given_attribute(value: Any) -> Given:
    """Return what the value of an attribute is."""
    if isinstance(value, str | bytes):
        return Given("s", 0, attribute=True)
    array = np.asarray(value)
    if isinstance(value, np.ndarray):
        return Given(_kind(array.dtype), array.ndim)  # a tensor, as inputs are
    if array.dtype.kind not in "iufbUS":
        return Given("", None, attribute=True)
    return Given(_kind(array.dtype) if array.size else "", array.ndim, attribute=True)


def given_array(value: Any) -> Given | None:
    """Return what an array, a list of arrays or None is."""
    if value is None:
        return None
    if isinstance(value, list | tuple):
        return Given("l")
    array = np.asarray(value)
    return Given(_kind(array.dtype), array.ndim)


def _kind(dtype: np.dtype[Any]) -> str:
    return {"u": "i", "V": "f", "O": "s", "U": "s", "S": "s"}.get(dtype.kind, dtype.kind)


def placed(overload: Overload, attributes: Sequence[str] | Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the arguments that are inputs, in order."""
    return tuple(name for name in overload.names if name not in attributes)


def resolved(operator: str, overload: str | None, given: Arguments) -> tuple[Overload, ...]:
    """Return the overload that a node calls, as a tuple of one; see `chosen`.

    Raises:
        Unfit: There are overloads, and none takes all that is given, or several do that would
            take it for different arguments.
    """
    return chosen(overloads_of(operator), overload, given)


def chosen(
    known: Sequence[Overload], overload: str | None, given: Arguments
) -> tuple[Overload, ...]:
    """Return the overload of an operator that a node calls, as a tuple of one.

    Args:
        known: The overloads of the operator, the default one first.
        overload: The overload that the file names, empty for the default one; None where it
            names none.
        given: What the node gives.

    Returns:
        It is empty where there are none, or none of that name.

    Raises:
        Unfit: There are overloads, and none takes all that is given, or several do that would
            take it for different arguments.
    """
    if overload:
        known = tuple(one for one in known if one.name == overload)
    elif overload is not None and known:
        named = [one for one in known[:1] if not one.name and not _missing(one, given)]
        if any(_is_whole(one, given) for one in named):
            return tuple(named)
    if not known:
        return ()
    fits = [one for one in known if not _missing(one, given)]
    if not fits:
        raise Unfit(_missing(known[0], given))
    for narrower in (_is_whole, _gives, _is_in_order, _takes, _takes_exactly):
        if len(fits) == 1:
            break
        # What no overload has is for the pass to refuse, which says what it needs.
        fits = [one for one in fits if narrower(one, given)] or fits
    if len({_meaning(one, given) for one in fits}) > 1:
        names = ", ".join(repr(one.name) for one in fits)
        called = known[0].operator
        raise Unfit(f"the overload of {called} must be named; {names} all take what is given")
    return (fits[0],)


def _bound(one: Overload, given: Arguments) -> dict[str, Given | None]:
    there: dict[str, Given | None] = {**given.attributes}
    there.update(zip(placed(one, given.attributes), given.inputs, strict=False))
    return there


def _meaning(one: Overload, given: Arguments) -> tuple[object, ...]:
    """Return what an overload takes the given arguments for.

    The first tensor is called ``self`` or ``input``, as it happens, and a list in the plural.
    """
    there = _bound(one, given)
    return tuple(
        (at, argument.name.removesuffix("s") if at else "")
        for at, argument in enumerate(one.arguments)
        if there.get(argument.name) is not None
    )


def _missing(one: Overload, given: Arguments) -> str:
    """Say which of the given arguments an overload does not have; empty where it has all."""
    overload = f"aten::{one.operator}" + (f".{one.name}" if one.name else "")
    names = set(one.names)
    unknown = next((name for name in given.attributes if name not in names), None)
    if unknown is not None:
        return f"attribute {unknown} is none of the arguments of {overload}"
    places = placed(one, given.attributes)
    lists = any(a.type == "Tensor[]" or a.type == "Tensor?[]" for a in one.arguments)
    # With attributes tensors alone are inputs, and a list of them is there one by one.
    most = max((at for at, value in enumerate(given.inputs, 1) if value is not None), default=0)
    if most > len(places) and not lists:
        return f"{overload} takes {len(places)} inputs; {most} are given"
    if one.results and given.needed > one.results:
        return f"{overload} has {one.results} outputs; {given.needed} are asked for"
    return ""


def _is_whole(one: Overload, given: Arguments) -> bool:
    """Say whether nothing is missing that an overload must have."""
    there = _bound(one, given)
    return all(
        argument.default is not REQUIRED
        or there.get(argument.name) is not None
        or (argument.optional and argument.name in there)
        for argument in one.arguments
    )


def _gives(one: Overload, given: Arguments) -> bool:
    """Say whether an overload has as many results as the node has outputs, used or not."""
    return not one.results or given.results <= one.results


def _is_in_order(one: Overload, given: Arguments) -> bool:
    """Say whether inputs stand for arguments that may be given by their place.

    An argument that PyTorch takes by its name alone is an input only in the layout in which every
    argument is one.
    """
    count = len(given.inputs)
    if given.attributes or count >= len(one.arguments):
        return True
    return not any(argument.by_name for argument in one.arguments[:count])


def _takes(one: Overload, given: Arguments) -> bool:
    there = _bound(one, given)
    return all(
        value is None or _fits(argument, value)
        for argument in one.arguments
        for value in (there.get(argument.name),)
    )


def _takes_exactly(one: Overload, given: Arguments) -> bool:
    """Say whether lists are where lists are asked for, and numbers where numbers are."""
    there = _bound(one, given)
    return all(
        value is None
        or value.rank is None
        or argument.is_tensor
        or (value.rank == 1) == ("[" in argument.type)
        or (value.rank == 0 and argument.type.endswith("[1]"))  # a number is a list of one
        for argument in one.arguments
        for value in (there.get(argument.name),)
    )


def _fits(argument: Formal, given: Given) -> bool:
    kind = argument.type
    if kind.startswith("Tensor"):
        if given.attribute or given.kind == "s":
            return False
        return kind != "Tensor" or given.kind != "l"
    if given.kind == "l":
        return "[" in kind
    if kind == "str":
        return given.kind in ("", "s")
    if given.kind == "s":
        return False
    if "[" in kind:
        if kind.startswith(("int[", "SymInt[")) and given.kind not in ("", "i"):
            return False  # True is no size: std(x, True) is the one with `unbiased`
        # PyTorch takes one value for a list of a fixed length, and so `int[1]`.
        lonely = kind[-2] != "[" or given.attribute
        return given.rank in (None, 1) or (given.rank == 0 and lonely)
    if given.rank not in (None, 0) and not (given.rank == 1 and not given.attribute):
        return False
    if kind in ("float", "Scalar"):
        return given.kind != "c" or kind == "Scalar"
    return given.kind in ("", "i", "b") if kind == "bool" else given.kind in ("", "i")
