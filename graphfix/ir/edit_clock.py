"""How many edits there have been, by which what was found out about a graph is known to be old."""

from __future__ import annotations


class EditClock:
    """Counts the edits of all graphs of a process; it only ever goes forward.

    One clock serves all graphs, because a tensor does not know which graph it is of: an edit of one
    graph makes what is kept of another old too, which costs time and never an answer.

    Attributes:
        count: The number of edits so far.
    """

    __slots__ = ("count",)

    def __init__(self) -> None:
        """Start with none."""
        self.count = 0


CLOCK = EditClock()


def set_and_count(self: object, name: str, value: object) -> None:
    """Set a field of a part of a graph, and count that as an edit: a ``__setattr__``."""
    CLOCK.count += 1
    object.__setattr__(self, name, value)


def watch_edits(made: object, edited: type) -> None:
    """Let each field that is set from now on count as an edit.

    To count while an object is made would cost more than to make it.

    Args:
        made: A new object.
        edited: Its class with `set_and_count`, and nothing else that is its own.
    """
    object.__setattr__(made, "__class__", edited)
