"""How an adapter is declared: one operator, one bump of its schema, one direction."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache

from graphfix.authoring.building import Builder
from graphfix.errors import PassBug
from graphfix.ir.views import NodeView, Refuse, Value

PACKAGE = "graphfix.opset.adapters"


class Unchanged(Enum):
    """The answer of an adapter that proved that the node may stay as it is."""

    KEEP = "keep"


KEEP = Unchanged.KEEP


class Differs(Refuse):
    """What the node means has no counterpart, however it is written: nothing may be in."""


Adapted = Value | tuple[Value | None, ...] | Unchanged
Function = Callable[[NodeView, Builder], Adapted]


@dataclass(frozen=True, slots=True)
class Adapter:
    """Rewrites a node of one opset in the form of a neighbouring one.

    Attributes:
        ops: The operators of the default domain.
        source: The opset that the node is in the form of.
        target: The opset, one higher or lower, that it is to fit.
        function: `(node, build) -> values | KEEP`; the builder emits in the form of `target`.
    """

    ops: tuple[str, ...]
    source: int
    target: int
    function: Function


def adapter(ops: str | Sequence[str], source: int, target: int) -> Callable[[Function], Adapter]:
    """Declare an adapter for one step of the chain, down or up.

    The function gets the node and a builder for the target opset. It returns the values that
    replace the node's outputs, `KEEP` where the node means the same in the target opset, or
    raises `Refuse`.
    """
    names = (ops,) if isinstance(ops, str) else tuple(ops)

    def declare(function: Function) -> Adapter:
        return Adapter(names, source, target, function)

    return declare


@cache
def adapters() -> Mapping[tuple[str, int, int], Adapter]:
    """Return every adapter of ``opset/adapters`` by (operator, source, target).

    Raises:
        PassBug: A step is not one wide, or two adapters are for the same operator and step.
    """
    package = importlib.import_module(PACKAGE)
    found: dict[tuple[str, int, int], Adapter] = {}
    for info in pkgutil.iter_modules(package.__path__, PACKAGE + "."):
        for value in vars(importlib.import_module(info.name)).values():
            if not isinstance(value, Adapter):
                continue
            if abs(value.source - value.target) != 1:
                raise PassBug(f"an adapter for {value.ops} is not one step wide")
            for op in value.ops:
                key = (op, value.source, value.target)
                if found.setdefault(key, value) is not value:
                    raise PassBug(f"two adapters are for {key}")
    return found
