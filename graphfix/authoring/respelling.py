"""The same node in another form of its operator, and what an expression has to know of a value."""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from typing import Any

from graphfix.analysis.inference import type_of
from graphfix.authoring.building import Builder
from graphfix.ir.schemas import form_of
from graphfix.ir.storage.weights import type_name
from graphfix.ir.views import NodeView, Refuse, Value


def operands(node: NodeView) -> tuple[list[Value | None], dict[str, Value]]:
    """Return a node's inputs: those of a variadic operator in order, others by formal name."""
    form = form_of(node.op, node.opset, node.domain)
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
    given: dict[str, Any] = {**node.written(), **named}
    for name in drop:
        given.pop(name, None)
    # An input that is left out or replaced is so because the caller has looked at it.
    form = form_of(node.op, node.opset, node.domain)
    names = () if form is None or positional else form.inputs
    gone = {*drop, *changes}
    node.waive(inputs=[at for at, name in enumerate(names) if name in gone])
    given.update(changes)
    count = len(node.node.outputs)
    made = build.multi(node.op, *positional, outputs=count, domain=node.domain, **given)
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


def need_rank(value: Value, least: int = 0) -> int:
    """Return the rank of a value.

    Raises:
        Refuse: It is not known, or less than `least`.
    """
    rank = value.rank
    if rank is not None and rank >= least:
        return rank
    if not least:
        raise Refuse(f"the rank of {value.name} must be known")
    raise Refuse(f"the rank of {value.name} must be at least {least}; it is {_known(rank)}")


def need_rank_of(value: Value, *ranks: int) -> int:
    """Return the rank of a value.

    Raises:
        Refuse: It is not known, or none of `ranks`.
    """
    rank = value.rank
    if rank is None or rank not in ranks:
        wanted = " or ".join(str(each) for each in ranks)
        raise Refuse(f"the rank of {value.name} must be {wanted}; it is {_known(rank)}")
    return rank


def _known(rank: int | None) -> str:
    return "unknown" if rank is None else str(rank)


def listed(kinds: Collection[int | str]) -> str:
    """Name element types, or other words, for a refusal that says what is needed: ``a, b or c``."""
    names = [kind if isinstance(kind, str) else type_name(kind) for kind in kinds]
    if isinstance(kinds, Set):
        names.sort()
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def need_elem_type(value: Value) -> int:
    """Return the element type (TensorProto.DataType) of a value.

    Raises:
        Refuse: It is not known.
    """
    if not value.elem_type:
        raise Refuse(f"the dtype of {value.name} must be known")
    return value.elem_type


def need_type(value: Value, kinds: Collection[int | str]) -> None:
    """Check the element type of a value.

    Args:
        value: The value.
        kinds: The types that are taken, as TensorProto.DataType or by name.

    Raises:
        Refuse: It is not known, or another.
    """
    if value.elem_type not in kinds and value.type_name not in kinds:
        raise Refuse(f"{value.name} must be {listed(kinds)}; it is {value.type_name}")


def is_optional(value: Value) -> bool:
    """Say whether a value is of an optional type.

    Raises:
        Refuse: Its type is not known.
    """
    known = type_of(value.tensor)
    if known is None:
        raise Refuse(f"the type of {value.name} must be known")
    return known.HasField("optional_type")
