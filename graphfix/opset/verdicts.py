"""What is known of each bump of a schema: that both texts mean the same, or nothing."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from msgspec import Struct, field


class Verdict(Struct, frozen=True):
    """The older and the newer form of an operator mean the same, within bounds.

    Attributes:
        reason: Why; empty where nothing but the list of types differs.
        neutral: For attributes that only one of the forms has: the value that gives the meaning
            of the form without it. ``"*"`` for any value; a list of one value for a list of any
            length that holds nothing else. Without an entry it is the default of the schema.
        allow: The values of an attribute that mean the same in both forms; others do not.
        upwards: The newer form takes more, so that this holds for steps up alone.
    """

    reason: str = ""
    neutral: Mapping[str, Any] = field(default_factory=dict[str, Any])
    allow: Mapping[str, tuple[Any, ...]] = field(default_factory=dict[str, "tuple[Any, ...]"])
    upwards: bool = False


@cache
def verdicts() -> Mapping[tuple[str, int, int], Verdict]:
    """Return the verdicts by (operator, opset of the older schema, opset of the newer one)."""
    folder = files("graphfix.opset")
    generated = tomllib.loads((folder / "bumps.toml").read_text(encoding="utf-8"))
    found: dict[tuple[str, int, int], Verdict] = {}
    for line in generated["same"]:
        op, older, newer = line.split()
        found[(op, int(older), int(newer))] = Verdict()
    reviewed = tomllib.loads((folder / "reviewed.toml").read_text(encoding="utf-8"))
    for entry in reviewed["same"]:
        allow = {name: tuple(values) for name, values in entry.get("allow", {}).items()}
        verdict = Verdict(entry["reason"], entry.get("neutral", {}), allow)
        for op in entry["ops"]:
            found[(op, entry["older"], entry["newer"])] = verdict
    for entry in reviewed["wider"]:
        for op in entry["ops"]:
            found[(op, entry["older"], entry["newer"])] = Verdict(entry["reason"], upwards=True)
    return found


def verdict_of(op: str, source: int, target: int) -> Verdict | None:
    """Return the verdict on going from one schema of an operator to another; None without one."""
    found = verdicts().get((op, min(source, target), max(source, target)))
    return None if found is not None and found.upwards and target < source else found
