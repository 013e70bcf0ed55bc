"""How a pass says no."""

from __future__ import annotations

from typing import TypeVar

Found = TypeVar("Found")


class Refuse(Exception):  # noqa: N818 - an answer, not an error
    """Raised by a pass that will not touch a node; the reason goes into the report.

    Attributes:
        reason: One sentence, starting in lower case, that says what was not proved.
    """

    def __init__(self, reason: str) -> None:
        """Refuse with a reason."""
        super().__init__(reason)
        self.reason = reason


class ComputedLate(Refuse):
    """Raised where a constant is asked for and the value is computed at run time."""


def needed(found: Found | None, why: str) -> Found:
    """Return what there is; `why` is the refusal where there is nothing."""
    if found is None:
        raise Refuse(why)
    return found
