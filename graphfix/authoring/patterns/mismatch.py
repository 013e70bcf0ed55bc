"""What is in a graph where a pattern looks for something else, in words."""

from __future__ import annotations

from graphfix.ir.graph import Node, Tensor, is_empty
from graphfix.ir.views import Value


def named(node: Node) -> str:
    """Return a node as a mismatch names it."""
    name = node.name or next((t.name for t in node.outputs if not is_empty(t)), "")
    return f"{node.op} {name!r}"


def described(tensor: Tensor) -> str:
    """Return what a value is, as a mismatch says it."""
    value = Value(tensor)
    array = value.array() if value.is_constant else None
    if array is not None:
        return str(array.reshape(()).item()) if array.size == 1 else f"the constant {value.name!r}"
    node: Node | None = tensor.inputs[0] if tensor.inputs else None
    return f"computed by {named(node)}" if node is not None else f"{value.name!r}, an input"


def many_readers(tensor: Tensor, most: int) -> str:
    """Return that a value is read too often to look for a node among its readers."""
    return f"{tensor.name!r} has more than {most} readers"


def read_outside(tensor: Tensor, reader: Node | None) -> str:
    """Return what else needs a value inside; None stands for who asked for the output."""
    return f"{tensor.name!r} inside of it is " + (
        f"read by {named(reader)}" if reader is not None else "an output"
    )


def not_for_all(tensor: Tensor) -> str:
    """Return that an input might be computed from an output."""
    return f"{tensor.name!r} is needed for some of the outputs alone, and may come from another"
