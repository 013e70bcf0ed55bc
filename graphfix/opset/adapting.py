"""How an adapter is declared: one operator, one bump of its schema, one direction."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

from graphfix.authoring.building import Builder
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import NodeView, Value
from graphfix.errors import PassBug
from graphfix.inference import type_of
from graphfix.schemas import form_of

PACKAGE = "graphfix.opset.adapters"


class Kept(Enum):
    """The answer of an adapter that proved that the node may stay as it is."""

    KEEP = "keep"


KEEP = Kept.KEEP


class Differs(Refuse):
    """What the node means has no counterpart, however it is written: nothing may stand in."""


Adapted = Value | tuple[Value | None, ...] | Kept
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


def operands(node: NodeView) -> tuple[list[Value | None], dict[str, Value]]:
    """Return a node's inputs: those of a variadic operator in order, others by formal name."""
    form = form_of(node.op, node.opset)
    if form is None:
        raise Refuse(f"opset {node.opset} has no {node.op}")
    if form.variadic_input:
        return list(node.inputs), {}
    named: dict[str, Value] = {}
    for name, value in zip(form.inputs, node.inputs, strict=False):
        if value is not None:
            named[name] = value
    return [], named


def respell(
    node: NodeView, build: Builder, *, drop: Sequence[str] = (), **changes: Any
) -> tuple[Value | None, ...]:
    """Emit the node again in the form of the builder's opset, with some things changed.

    What one form takes as an attribute and the other as an input goes where it belongs, by name.

    Args:
        node: The node.
        build: The builder.
        drop: Inputs and attributes of the node that are left out.
        changes: Inputs or attributes with their new values, whatever `drop` says.

    Raises:
        Refuse: A value that has to become an attribute is computed at run time, or the target
            form has no such input or attribute.
    """
    positional, named = operands(node)
    attributes: dict[str, Any] = {name: node.node.attrs[name] for name in node.attributes}
    given: dict[str, Any] = {**attributes, **named}
    for name in drop:
        given.pop(name, None)
    given.update(changes)
    made = build.multi(node.op, *positional, outputs=len(node.node.outputs), **given)
    return tuple(
        value if old is not None else None for value, old in zip(made, node.outputs, strict=True)
    )


def axes_of(value: Value | None, what: str, build: Builder) -> list[int] | None:
    """Return a constant list of integers, or None where the input is omitted.

    Raises:
        Refuse: It is computed at run time.
    """
    if value is None:
        return None
    return [int(axis) for axis in build.need_const(value, what).reshape(-1)]


def need_rank(value: Value) -> int:
    """Return the rank of a value.

    Raises:
        Refuse: It is not known.
    """
    if value.rank is None:
        raise Refuse(f"the rank of {value.name} is unknown")
    return value.rank


def need_elem_type(value: Value) -> int:
    """Return the element type (TensorProto.DataType) of a value.

    Raises:
        Refuse: It is not known.
    """
    if not value.elem_type:
        raise Refuse(f"dtype of {value.name} is unknown")
    return value.elem_type


def is_optional(value: Value) -> bool:
    """Say whether a value is of an optional type.

    Raises:
        Refuse: Its type is not known.
    """
    known = type_of(value.tensor)
    if known is None:
        raise Refuse(f"the type of {value.name} is unknown")
    return known.HasField("optional_type")
