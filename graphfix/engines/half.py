"""How engines compute in float16: what a family's ``half.toml`` says."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from msgspec import Struct

from graphfix.engines.engine import engine_of
from graphfix.ir.storage.toml_files import read_shipped_toml


class Half(Struct, frozen=True):
    """How an engine computes in float16 where a model says so.

    Attributes:
        sums: The type that it may add up products in: ``float16`` or ``float32``.
        at_once: How many terms are added before a sum is rounded to it, as far as is known.
        wide: Operators that are best left in float32, and why.
        source: Where that was read.
    """

    sums: str
    at_once: int
    wide: Mapping[str, str]
    source: str


@cache
def half_of(family: str) -> Half | None:
    """Return what is known of a family; None where no source says anything."""
    folder = engine_of(family).folder
    file = folder / "half.toml" if folder is not None else None
    if file is None or not file.is_file():
        return None
    table = read_shipped_toml(file)
    found = table.get(family)
    if found is None:
        return None
    if "like" in found:
        found = table[found["like"]]
    wide = {
        operator: str(row["why"])
        for row in found.get("wide", ())
        for operator in str(row["operators"]).split()
    }
    return Half(str(found["sums"]), int(found.get("at_once", 1)), wide, str(found["source"]))
