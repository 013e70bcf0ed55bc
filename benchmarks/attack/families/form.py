"""What a form of an operator is: inputs, constants, attributes, opsets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class K:
    """A constant."""

    value: Any
    kind: str = "i64"


Fed = tuple[str, tuple[Any, ...]]  # the type, "T" for that which the form is tried in, and sizes
Input = Fed | K | None


@dataclass(frozen=True)
class Form:
    """One form; an input that is None is left out."""

    op: str
    inputs: Sequence[Input]
    attrs: dict[str, Any] = field(default_factory=dict[str, Any])
    opsets: Sequence[int] = (13, 17)
    kinds: Sequence[str] = ("f",)
    outputs: int = 1
    shown: Sequence[int] = ()
    gives: Sequence[str] = ("T",)


def data(*dims: Any) -> Fed:
    """Return an input of the type that the form is tried in."""
    return ("T", dims)


def typed(kind: str, *dims: Any) -> Fed:
    """Return an input of one type."""
    return (kind, dims)


class Forms(list[Form]):
    """A list of forms."""

    def add(
        self, op: str, inputs: Sequence[Input], attrs: dict[str, Any] | None = None, **more: Any
    ) -> None:
        """Add one; see `Form`."""
        self.append(Form(op, inputs, attrs or {}, **more))
