"""How every benchmark ends: a fault of graphfix in a row of its results is no success."""

from __future__ import annotations

from collections.abc import Iterable

from graphfix.errors import PassBug

FAULT = PassBug.exit_code


def code_with(codes: Iterable[int | str | None], instead: int = 0) -> int:
    """Return what a benchmark ends with.

    Args:
        codes: The exit codes of graphfix in its rows, as numbers or text; others are let through.
        instead: What it ends with where none of them is a fault.

    Returns:
        1 where a run ended in a fault of graphfix, and `instead` where none did.
    """
    return max(instead, 1) if any(str(code) == str(FAULT) for code in codes) else instead
