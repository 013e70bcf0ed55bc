"""The table of kinds of docs/mended.md."""

from __future__ import annotations

from graphfix.validity.mending.kinds import Kind, kinds

_TITLES = "| kind | operators | operands | types | how it is read | threads |"
_HEAD = f"{_TITLES}\n|---|---|---|---|---|---|\n"
_SHOWN = 6


def table() -> str:
    """Return the kinds as a table in Markdown, in their order."""
    return _HEAD + "".join(_row(kind) for kind in kinds() if kind.rule != "leave")


def _row(kind: Kind) -> str:
    ops = ", ".join(kind.ops[:_SHOWN]) + (", ..." if len(kind.ops) > _SHOWN else "")
    cells = (
        kind.id,
        ops or "all",
        ", ".join(kind.inputs) or "all",
        ", ".join(kind.types),
        kind.reading,
        ", ".join(kind.threads),
    )
    return f"| {' | '.join(cells)} |\n"
