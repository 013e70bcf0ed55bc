"""The rows of ``kinds.toml``: which broken files are read in one way, and in which."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct, convert

from graphfix.ir.storage.toml_files import read_shipped_toml

_TABLE = Path(__file__).parent / "kinds.toml"


class Kind(Struct, frozen=True):
    """One kind of broken place, and how it is read.

    Attributes:
        id: Its name.
        rule: What is done; the table lists the rules.
        reading: What is assumed, as a sentence for reports.
        ops: The operators; empty for all.
        inputs: The operands, by their names in the schema; empty for all.
        types: The element types that it is about.
        to: The type, or the operand whose type is taken; empty where the rule says it.
        threads: Public threads with such a file, as ``owner/name#number``.
    """

    id: str
    rule: str
    reading: str
    ops: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    to: str = ""
    threads: tuple[str, ...] = ()

    def is_about(self, op: str, operand: str, types: Collection[str]) -> bool:
        """Say whether an operand of a node is of this kind."""
        return (
            (not self.ops or op in self.ops)
            and (not self.inputs or operand in self.inputs)
            and all(known in self.types for known in types)
        )


@cache
def kinds() -> tuple[Kind, ...]:
    """Return all kinds, in the order of the table."""
    return tuple(_kind(row) for row in read_shipped_toml(_TABLE)["kind"])


def _kind(row: dict[str, Any]) -> Kind:
    return convert(row, Kind)


@cache
def of_rules(*rules: str) -> tuple[Kind, ...]:
    """Return the kinds that follow one of some rules."""
    return tuple(kind for kind in kinds() if kind.rule in rules)


def first(rules: tuple[str, ...], op: str, operand: str, types: Collection[str]) -> Kind | None:
    """Return the first kind of the table that decides; None where none does."""
    return next((k for k in of_rules(*rules) if k.is_about(op, operand, types)), None)
